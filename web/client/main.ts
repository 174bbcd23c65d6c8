import { startDoctor } from "./doctor";
import { startDrag } from "./drag";
import { startEmbed, startFrame } from "./embed";
import { startFields } from "./fields";
import { startForms } from "./forms";
import { startLinks } from "./links";
import { startLock } from "./lock";
import { startMenus } from "./menu";
import { startOwn } from "./own";
import { Page } from "./page";
import { startPlayer } from "./player";
import { startPrint } from "./print";
import { startRoving } from "./roving";
import { startShare } from "./share";
import { startSweep } from "./sweep";
import { startTabs } from "./tabs";
import { startTeach } from "./teach";
import { startTheme } from "./theme";

startTheme();
startMenus();
startShare();
startPrint();
const lesson = document.getElementById("lesson");
if (lesson) {
  const page = new Page(lesson);
  for (const attach of [startTabs, startFields, startOwn, startForms, startPlayer, startDrag, startRoving, startSweep, startLinks, startLock, startFrame]) attach(page);
  page.start();
}
const teach = document.getElementById("teach");
if (teach) startTeach(teach);
const doctor = document.querySelector<HTMLElement>("[data-doctor]");
if (doctor) startDoctor(doctor);
if (document.querySelector("[data-embed-content]") && !lesson && !doctor) startEmbed(document.body, { away() {}, back() {} });

import { startClocks } from "./clocks";
import { startLesson } from "./lesson";
import { startLedgers } from "./ledgers";
import { startTheme } from "./theme";

startTheme();
const lesson = document.getElementById("lesson");
if (lesson) startLesson(lesson);
const ledgers = document.getElementById("ledgers");
if (ledgers) startLedgers(ledgers);
const clocks = document.getElementById("clocks");
if (clocks) startClocks(clocks);

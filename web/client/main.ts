import { startLesson } from "./lesson";
import { startTheme } from "./theme";

startTheme();
const lesson = document.getElementById("lesson");
if (lesson) startLesson(lesson);

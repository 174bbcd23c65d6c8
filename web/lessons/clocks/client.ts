// Lesson 3's chart begins before 0: its playhead is placed between its ends.

import { register } from "../../client/page";

register("clocks", (page) => {
  page.patched(() => {
    for (const plot of page.root.querySelectorAll<SVGElement>("#chart [data-scale]")) {
      plot.style.setProperty("--from", plot.dataset.from ?? "0");
      plot.style.setProperty("--to", plot.dataset.to ?? "1");
    }
  });
});

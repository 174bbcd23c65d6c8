package web

import (
	"fmt"
	"html"
	"strings"

	"drainlab/web/templates"
)

// previewMost is the most in CSS pixels that a preview or a slide takes.
const previewMost = 760

// hostParts is what the hosts' snippets are made of; addresses are absolute.
type hostParts struct {
	link, frame, card, title, plain string
	height                          int
}

// buildHosts says how a lesson comes into each host.
func buildHosts(p hostParts) []templates.HostGuide {
	way := fmt.Sprintf(`<p><a href="%s">Open the lesson in a tab of its own</a></p>`, html.EscapeString(p.link))
	return []templates.HostGuide{
		{ID: "moodle", Name: "Moodle", What: "Code for the editor's HTML view", Snippet: p.plain + "\n" + way, Steps: []string{
			"Add a Page or a Text and media area, and open the editor's HTML view (</>, in TinyMCE under Tools, Source code).",
			"Paste the code, leave the view, save."},
			Does:  "Moodle keeps a teacher's frame as it is and does not size it: the height stays at the one in the code. What learners write, in a forum for example, is cleaned: there the frame goes and the link stays.",
			Works: "Everything. If Moodle drops the allow attribute, copying selects the text instead."},
		{ID: "canvas", Name: "Canvas", What: "Code for the editor's HTML view", Snippet: p.plain + "\n" + way, Steps: []string{
			"Edit a Page, and switch the Rich Content Editor to its HTML view (</>).",
			"Paste the code, switch back, save."},
			Does:  "In the browser, Canvas answers the frame's height messages and makes the frame as high as the lesson. Its mobile apps do not: there the height in the code stands. Some attributes may be cleaned away; none is needed.",
			Works: "Everything."},
		{ID: "wordpress", Name: "WordPress", What: "Link on a line of its own", Snippet: p.link, Steps: []string{
			"Paste the link into an empty paragraph. WordPress asks this server by oEmbed what to show, and makes a frame of it.",
			"If it stays a link, add a Custom HTML block and paste the plain snippet from above."},
			Does:  "The oEmbed frame is in a sandbox that allows scripts and nothing else, keeps its title and size, and is between 200 and 1000 px high. A Custom HTML block keeps the code as it is, if your account may post unfiltered HTML.",
			Works: "Playing and every control work without storage or cookies. In the sandbox, text is selected rather than copied, there is no fullscreen, and links to a new tab stay closed."},
		{ID: "notion", Name: "Notion", What: "Address of the frame", Snippet: p.frame, Steps: []string{
			"Type /embed and press Enter.",
			"Paste the address and choose Embed link. Drag the block's lower edge until the lesson fits."},
			Does:  "Notion makes its own frame of the address and needs https and a public server. It does not size the frame: what does not fit scrolls in it.",
			Works: "Everything but what the frame is not allowed: copying may select the text instead."},
		{ID: "google-sites", Name: "Google Sites", What: "Address of the frame", Snippet: p.frame, Steps: []string{
			"Choose Insert, Embed, By URL, and paste the address.",
			"Choose the whole page, not the preview card, insert it, and drag its handles until the lesson fits."},
			Does:  "Google Sites makes its own frame of the address, and needs https and a public server. It keeps the size that you drag. Under Embed code instead of By URL, the frame stands in a second one, which costs height.",
			Works: "Everything but what the frame is not allowed: copying may select the text instead."},
		{ID: "reveal", Name: "reveal.js", What: "Code of a slide", Snippet: revealSlide(p), Steps: []string{
			"Paste the slide between the others, inside the element with the class slides.",
			"The class r-stretch gives the frame what height the slide has left. Hide parts that you do not show, so that it fits."},
			Does:  "reveal.js loads the frame when its slide is shown and drops it afterwards, so the lesson starts afresh each time. In the PDF export the frame may be empty; the link is there.",
			Works: "Everything. While the focus is in the frame its keys go to the lesson: click beside it to get the deck's keys back."},
		{ID: "markdown", Name: "Markdown", What: "A picture that is a link", Snippet: fmt.Sprintf("[![%s](%s)](%s)", markdownText(p.title), markdownAddress(p.card), markdownAddress(p.link)), Steps: []string{
			"Paste the line into the README, the issue or the notes."},
			Does:  "GitHub, GitLab and most forums strip frames, scripts and styles. A picture with a link stays. Its size is that of the column.",
			Works: "The picture shows the run as the link opens it; a click opens the lesson. Nothing plays in the page itself."},
	}
}

// revealSlide is a slide of reveal.js. The frame loads by data-src, which is
// the deck's own laziness.
func revealSlide(p hostParts) string {
	return fmt.Sprintf(`<section>
  <iframe data-src="%s" title="%s" class="r-stretch" width="100%%" height="%d" allow="fullscreen; clipboard-write"></iframe>
  <p><small><a href="%s">Open the lesson in a tab of its own</a></small></p>
</section>`, html.EscapeString(p.frame), html.EscapeString(p.title), min(p.height, previewMost), html.EscapeString(p.link))
}

// markdownText escapes what Markdown would read as its own in a link's text.
func markdownText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "\n", " ", "<", "&lt;", "&", "&amp;").Replace(text)
}

// markdownAddress escapes what would end an address in Markdown.
func markdownAddress(address string) string {
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", `"`, "%22", "\n", "").Replace(address)
}

package clocks

// Platform is what a platform's documentation says of a termination, in the
// words of the model.
type Platform struct {
	ID   string
	Name string
	// Signal is what the process gets, in the documentation's terms.
	Signal string
	// Handled is false where no process is signalled: the application must look
	// for the notice by itself.
	Handled bool
	Grace   Time // by default
	// Most is the longest grace that the platform takes, [Never] where its
	// documentation names none.
	Most      Time
	MostWhere string // for what the most holds
	// Least is the shortest grace that its setting takes, 0 where any is taken.
	Least      Time
	LeastWhere string // for what the least holds, "" for all
	// HookInGrace says that what runs before the signal spends the same clock.
	HookInGrace bool
	// Hook is what the platform runs before the signal, "" where it has nothing
	// of the kind: the wait is then whoever's who stops the process.
	Hook     string
	Includes string // what the clock includes
	Setting  string // the platform's own name for the grace; "" where it cannot be set
	Document string // the title of the page
	URL      string
}

// LookedUp is the day on which the platforms' documentation was looked up.
const LookedUp = "30 November 2026"

var platforms = []Platform{
	{ID: "kubernetes", Name: "Kubernetes", Signal: "the image's STOPSIGNAL, else SIGTERM", Handled: true, Grace: 30 * Second, Most: Never, HookInGrace: true, Hook: "preStop",
		Includes: "the preStop hook and the drain; 2 s more, once, when the hook overruns; endpoints are updated beside it",
		Setting:  "terminationGracePeriodSeconds", Document: "Termination of Pods",
		URL: "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination"},
	{ID: "docker", Name: "Docker", Signal: "the image's STOPSIGNAL, else SIGTERM", Handled: true, Grace: 10 * Second, Most: Never,
		Includes: "from the signal to SIGKILL (Linux containers)",
		Setting:  "docker stop --timeout", Document: "docker container stop",
		URL: "https://docs.docker.com/reference/cli/docker/container/stop/"},
	{ID: "ecs", Name: "Amazon ECS", Signal: "the image's STOPSIGNAL, else SIGTERM", Handled: true, Grace: 30 * Second, Most: 120 * Second, MostWhere: "on Fargate", Least: 2 * Second, LeastWhere: "on Fargate",
		Includes: "from the signal to SIGKILL; the load balancer's deregistration delay, 300 s by default, is a clock of its own",
		Setting:  "stopTimeout", Document: "StopTask (Amazon ECS API reference)",
		URL: "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_StopTask.html"},
	{ID: "cloudrun", Name: "Cloud Run", Signal: "SIGTERM", Handled: true, Grace: 10 * Second, Most: 10 * Second, MostWhere: "which no setting changes",
		Includes: "from the signal to SIGKILL",
		Document: "Container runtime contract",
		URL:      "https://cloud.google.com/run/docs/container-contract"},
	{ID: "systemd", Name: "systemd", Signal: "KillSignal, by default SIGTERM", Handled: true, Grace: 90 * Second, Most: Never, Hook: "ExecStop",
		Includes: "each ExecStop command by itself, then the stop by signal by itself",
		Setting:  "TimeoutStopSec", Document: "systemd.service(5)",
		URL: "https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html"},
	{ID: "heroku", Name: "Heroku", Signal: "SIGTERM to every process, perhaps more than once", Handled: true, Grace: 30 * Second, Most: 30 * Second, MostWhere: "which no setting changes",
		Includes: "from the signal to SIGKILL; the replacement starts when the signal is sent",
		Document: "Dyno Shutdown Behavior",
		URL:      "https://devcenter.heroku.com/articles/dyno-shutdown-behavior"},
	{ID: "fly", Name: "Fly.io", Signal: "SIGINT, unless kill_signal says otherwise", Handled: true, Grace: 5 * Second, Most: 300 * Second, MostWhere: "on shared CPUs",
		Includes: "from the signal to the forced stop, as a best effort",
		Setting:  "kill_timeout", Document: "App configuration (fly.toml)",
		URL: "https://fly.io/docs/reference/configuration/"},
	{ID: "nomad", Name: "Nomad", Signal: "SIGINT; SIGTERM from the Docker driver", Handled: true, Grace: 5 * Second, Most: 30 * Second, MostWhere: "unless the client's max_kill_timeout allows more", Hook: "shutdown_delay",
		Includes: "from the signal to SIGKILL; shutdown_delay comes before it and is apart",
		Setting:  "kill_timeout", Document: "task block in the job specification",
		URL: "https://developer.hashicorp.com/nomad/docs/job-specification/task"},
	{ID: "render", Name: "Render", Signal: "SIGTERM", Handled: true, Grace: 30 * Second, Most: 300 * Second, MostWhere: "for web, private and worker services", Least: Second,
		Includes: "from the signal to the exit",
		Setting:  "maxShutdownDelaySeconds", Document: "Deploying on Render",
		URL: "https://render.com/docs/deploys"},
	{ID: "gce-spot", Name: "GCE Spot", Signal: "ACPI soft-off; the guest's own init signals the service", Handled: true, Grace: 30 * Second, Most: 30 * Second, MostWhere: "of which the guest may get less", HookInGrace: true,
		Includes: "the whole shutdown of the guest",
		Document: "Spot VMs",
		URL:      "https://cloud.google.com/compute/docs/instances/spot"},
	{ID: "ec2-spot", Name: "EC2 Spot", Signal: "none: a notice in the instance's metadata", Handled: false, Grace: 120 * Second, Most: 120 * Second, MostWhere: "from notice to interruption", HookInGrace: true,
		Includes: "everything, from the notice on; whoever does not look for it is not told",
		Document: "Spot Instance interruption notices",
		URL:      "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html"},
}

// Platforms lists the platforms whose defaults the lesson knows. The list is
// not to be changed.
func Platforms() []Platform { return platforms }

// FindPlatform returns the platform of that id.
func FindPlatform(id string) (Platform, bool) {
	for _, p := range platforms {
		if p.ID == id {
			return p, true
		}
	}
	return Platform{}, false
}

// On returns s as the platform would set it by default: its grace, what that
// includes, and whether a process is signalled. All else stays.
func (p Platform) On(s Settings) Settings {
	s.Grace, s.HookInGrace, s.SignalHandled = p.Grace, p.HookInGrace, p.Handled
	return s
}

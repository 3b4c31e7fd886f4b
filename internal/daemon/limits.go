package daemon

import "mcpx/internal/settings"

// Limited is what is in force for a script that the daemon runs: daemon.limits is in the
// place of the limits of a command. A caller can ask for less; only the user, if nobody has
// set them, for more.
func Limited(set *settings.Set, user bool) *settings.Set {
	return set.Within(user,
		settings.ExecTimeout.Most(settings.DaemonLimitsTimeout.Get(set), settings.DaemonLimitsTimeout),
		settings.LimitsMemory.Most(settings.DaemonLimitsMemory.Get(set), settings.DaemonLimitsMemory),
		settings.LimitsCPU.Most(settings.DaemonLimitsCPU.Get(set), settings.DaemonLimitsCPU),
		settings.LimitsToolCalls.Most(settings.DaemonLimitsToolCalls.Get(set), settings.DaemonLimitsToolCalls),
		settings.LimitsInFlight.Most(settings.DaemonLimitsInFlight.Get(set), settings.DaemonLimitsInFlight),
		settings.LimitsOutput.Most(settings.DaemonLimitsOutput.Get(set), settings.DaemonLimitsOutput),
	)
}

package api

import (
	"context"

	"mcpx/internal/settings"
)

// Health implements Service.
func (s *Remote) Health(ctx context.Context, in HealthInput) (*HealthOutput, error) {
	return remote(ctx, s, Health, in)
}

// Status implements Service.
func (s *Remote) Status(ctx context.Context, in StatusInput) (*StatusOutput, error) {
	return remote(ctx, s, Status, in)
}

// Namespaces implements Service.
func (s *Remote) Namespaces(ctx context.Context, in NamespacesInput) (*NamespacesOutput, error) {
	return remote(ctx, s, ListNamespaces, in)
}

// Search implements Service.
func (s *Remote) Search(ctx context.Context, in SearchInput) (*SearchOutput, error) {
	return remote(ctx, s, SearchTools, in)
}

// Types implements Service.
func (s *Remote) Types(ctx context.Context, in TypesInput) (*TypesOutput, error) {
	return remote(ctx, s, DeclareTypes, in)
}

// Catalog implements Service.
func (s *Remote) Catalog(ctx context.Context, in CatalogInput) (*CatalogOutput, error) {
	return remote(ctx, s, ShowCatalog, in)
}

// Changes implements Service.
func (s *Remote) Changes(ctx context.Context, in ChangesInput) (*ChangesOutput, error) {
	return remote(ctx, s, CatalogHistory, in)
}

// Tools implements Service.
func (s *Remote) Tools(ctx context.Context, in ToolsInput) (*ToolsOutput, error) {
	return remote(ctx, s, ListTools, in)
}

// Call implements Service.
func (s *Remote) Call(ctx context.Context, in CallInput) (*CallOutput, error) {
	return remote(ctx, s, CallTool, in)
}

// Batch implements Service.
func (s *Remote) Batch(ctx context.Context, in BatchInput) (*BatchOutput, error) {
	return remote(ctx, s, CallBatch, in)
}

// Resources implements Service.
func (s *Remote) Resources(ctx context.Context, in ResourcesInput) (*ResourcesOutput, error) {
	return remote(ctx, s, ListResources, in)
}

// ResourceTemplates implements Service.
func (s *Remote) ResourceTemplates(ctx context.Context, in ResourcesInput) (*ResourceTemplatesOutput, error) {
	return remote(ctx, s, ListResourceTemplates, in)
}

// ReadResource implements Service.
func (s *Remote) ReadResource(ctx context.Context, in ReadResourceInput) (*ReadResourceOutput, error) {
	return remote(ctx, s, ReadOneResource, in)
}

// Prompts implements Service.
func (s *Remote) Prompts(ctx context.Context, in PromptsInput) (*PromptsOutput, error) {
	return remote(ctx, s, ListPrompts, in)
}

// GetPrompt implements Service.
func (s *Remote) GetPrompt(ctx context.Context, in GetPromptInput) (*GetPromptOutput, error) {
	return remote(ctx, s, FillPrompt, in)
}

// Complete implements Service.
func (s *Remote) Complete(ctx context.Context, in CompleteInput) (*CompleteOutput, error) {
	return remote(ctx, s, CompleteArgument, in)
}

// Config implements Service.
func (s *Remote) Config(ctx context.Context, in ConfigInput) (*ConfigOutput, error) {
	return remote(ctx, s, ShowConfig, in)
}

// Doctor implements Service.
func (s *Remote) Doctor(ctx context.Context, in DoctorInput) (*DoctorOutput, error) {
	return remote(ctx, s, Diagnose, in)
}

// Refresh implements Service.
func (s *Remote) Refresh(ctx context.Context, in RefreshInput) (*RefreshOutput, error) {
	return remote(ctx, s, Refresh, in)
}

// ServersList implements Service.
func (s *Remote) ServersList(ctx context.Context, in ServersListInput) (*ServersListOutput, error) {
	return remote(ctx, s, ListServers, in)
}

// ServersAdd implements Service.
func (s *Remote) ServersAdd(ctx context.Context, in ServersAddInput) (*ServersAddOutput, error) {
	return remote(ctx, s, AddServer, in)
}

// ServersRemove implements Service.
func (s *Remote) ServersRemove(ctx context.Context, in ServersRemoveInput) (*ServersRemoveOutput, error) {
	return remote(ctx, s, RemoveServer, in)
}

// SessionList implements Service.
func (s *Remote) SessionList(ctx context.Context, in SessionListInput) (*SessionListOutput, error) {
	return remote(ctx, s, ListSessions, in)
}

// SessionRelease implements Service.
func (s *Remote) SessionRelease(ctx context.Context, in SessionReleaseInput) (*SessionReleaseOutput, error) {
	return remote(ctx, s, ReleaseSession, in)
}

// SessionRestart implements Service.
func (s *Remote) SessionRestart(ctx context.Context, in SessionRestartInput) (*SessionRestartOutput, error) {
	return remote(ctx, s, RestartSession, in)
}

// Restart implements Service.
func (s *Remote) Restart(ctx context.Context, in RestartInput) (*RestartOutput, error) {
	return remote(ctx, s, RestartDaemon, in)
}

// Shutdown implements Service.
func (s *Remote) Shutdown(ctx context.Context, in ShutdownInput) (*ShutdownOutput, error) {
	return remote(ctx, s, StopDaemon, in)
}

// SettingsList implements Service.
func (s *Remote) SettingsList(ctx context.Context, in SettingsListInput) (*SettingsListOutput, error) {
	return remote(ctx, s, ListSettings, in)
}

// SettingsGet implements Service.
func (s *Remote) SettingsGet(ctx context.Context, in SettingsGetInput) (*SettingsGetOutput, error) {
	return remote(ctx, s, GetSetting, in)
}

// SettingsSet implements Service.
func (s *Remote) SettingsSet(ctx context.Context, in SettingsSetInput) (*SettingsSetOutput, error) {
	return remote(ctx, s, SetSetting, in)
}

// SettingsUnset implements Service.
func (s *Remote) SettingsUnset(ctx context.Context, in SettingsUnsetInput) (*SettingsUnsetOutput, error) {
	return remote(ctx, s, UnsetSetting, in)
}

// Exec implements Service.
func (s *Remote) Exec(ctx context.Context, in ExecInput) (*ExecOutput, error) {
	if in.Timeout > 0 {
		in.Within = settings.FormatDuration(in.Timeout)
	}
	return remote(ctx, s, RunScript, in)
}

// ArtifactsList implements Service.
func (s *Remote) ArtifactsList(ctx context.Context, in ArtifactsListInput) (*ArtifactsListOutput, error) {
	return remote(ctx, s, ListArtifacts, in)
}

// ArtifactGet implements Service.
func (s *Remote) ArtifactGet(ctx context.Context, in ArtifactGetInput) (*ArtifactGetOutput, error) {
	return s.artifact(ctx, in)
}

// ArtifactPut implements Service.
func (s *Remote) ArtifactPut(ctx context.Context, in ArtifactPutInput) (*ArtifactPutOutput, error) {
	return remote(ctx, s, PutArtifact, in)
}

// ArtifactDelete implements Service.
func (s *Remote) ArtifactDelete(ctx context.Context, in ArtifactDeleteInput) (*ArtifactDeleteOutput, error) {
	return remote(ctx, s, DeleteArtifact, in)
}

// TasksList implements Service.
func (s *Remote) TasksList(ctx context.Context, in TasksListInput) (*TasksListOutput, error) {
	return remote(ctx, s, ListTasks, in)
}

// TaskGet implements Service.
func (s *Remote) TaskGet(ctx context.Context, in TaskGetInput) (*TaskGetOutput, error) {
	return remote(ctx, s, GetTask, in)
}

// TaskResult implements Service.
func (s *Remote) TaskResult(ctx context.Context, in TaskResultInput) (*TaskResultOutput, error) {
	return remote(ctx, s, GetTaskResult, in)
}

// TaskCancel implements Service.
func (s *Remote) TaskCancel(ctx context.Context, in TaskCancelInput) (*TaskCancelOutput, error) {
	return remote(ctx, s, CancelTask, in)
}

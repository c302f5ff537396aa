/** The state of a server, in the words of the wire. */
export type McpStatus =
  | 'connected'
  | 'failed'
  | 'needs-auth'
  | 'pending'
  | 'disabled'
  | 'stopped'
  | 'not_configured';

/** What the door starts the runtime of a tenant with; users have no use for it. */
export const tenantFlag = '--tenant-runtime';

const never = () => new Promise<never>(() => undefined);

/** Handlers that leave questions open: the page shows them itself, and declares by these that it can. */
export const unansweredHandlers = {
  onPermissionRequest: never,
  onUserInputRequest: never,
  onExitPlanModeRequest: never,
  onElicitationRequest: never,
  onAutoModeSwitchRequest: never,
  onSessionLimitsRequest: never,
};

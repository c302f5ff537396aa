const never = () => new Promise<never>(() => undefined);

/** Questions stay open for whoever answers: the page shows them itself, and says by these that it can. */
export const unansweredHandlers = {
  onPermissionRequest: never,
  onUserInputRequest: never,
  onExitPlanModeRequest: never,
  onElicitationRequest: never,
  onAutoModeSwitchRequest: never,
  onSessionLimitsRequest: never,
};

import { canvasCallbacks } from './canvas.js';
import { factoryCallbacks } from './factory.js';
import { gitHubTokenCallbacks } from './github-token.js';
import { hookCallbacks } from './hooks.js';
import { inferenceCallbacks } from './inference.js';
import { protocol2Callbacks } from './protocol-2.js';
import { providerTokenCallbacks } from './provider-token.js';
import { questionCallbacks } from './questions.js';
import { sessionFsCallbacks } from './session-fs.js';
import { systemMessageCallbacks } from './system-message.js';
import { taskCallbacks } from './tasks.js';
import { toolArgumentCallbacks } from './tool-arguments.js';

/** Every request the runtime may put to a client. */
export const callbacks = {
  ...canvasCallbacks,
  ...factoryCallbacks,
  ...gitHubTokenCallbacks,
  ...hookCallbacks,
  ...inferenceCallbacks,
  ...protocol2Callbacks,
  ...providerTokenCallbacks,
  ...questionCallbacks,
  ...sessionFsCallbacks,
  ...systemMessageCallbacks,
  ...taskCallbacks,
  ...toolArgumentCallbacks,
};

/** The table as a type. */
export type Callbacks = typeof callbacks;

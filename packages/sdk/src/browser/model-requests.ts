import { GroundcrewError } from '../errors.js';

/** No page makes the runtime's model calls. */
export class ModelRequests {
  receive(): Promise<never> {
    throw new GroundcrewError('invalid_option', 'A browser makes no model calls for the runtime');
  }
}

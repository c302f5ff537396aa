export {
  type HttpDoor,
  type HttpDoorOptions,
  openHttpDoor,
  type Route,
  type SocketRoute,
  type TokenCheck,
} from './door.js';

export {
  type Guests,
  type HttpDoor,
  type HttpDoorOptions,
  openHttpDoor,
  type Route,
  type SocketRoute,
} from './door.js';

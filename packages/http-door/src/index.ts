export { type HttpDoor, type HttpDoorOptions, openHttpDoor, type Route } from './door.js';

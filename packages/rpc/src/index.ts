export { type ByteChannelOptions, type ByteStreams, byteChannel } from './byte-channel.js';
export type { Call } from './call.js';
export type { Channel } from './channel.js';
export { Connection, type ConnectionHandlers, type ConnectionOptions } from './connection.js';
export { ErrorCode, FramingError, type FramingErrorKind, RpcError } from './errors.js';
export { FrameReader, frame } from './framing.js';
export { channelPair } from './memory.js';
export {
  type Encoded,
  type ErrorObject,
  encode,
  encodeRaw,
  type Failure,
  type Message,
  type Notification,
  RawJson,
  RawPieces,
  type Request,
  type RequestId,
  type Success,
} from './message.js';
export { AsyncQueue } from './queue.js';
export { stdioChannel } from './stdio.js';
export {
  type ConnectOptions,
  connectTcp,
  type Listener,
  type ListenOptions,
  listenSockets,
  listenTcp,
  type TlsIdentity,
} from './tcp.js';
export { type TextChannelOptions, type TextListener, type TextSocket, textChannel } from './text-channel.js';
export { type OpenSocket, webSocketChannel } from './web-socket.js';

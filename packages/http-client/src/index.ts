export { AnswerBody } from './answer-body.js';
export { HttpError, type HttpErrorKind } from './errors.js';
export type { HttpRequest, HttpResponse, TimeLimits } from './exchange.js';
export { httpExchange } from './http-exchange.js';
export { type Environment, proxyFor, type Route, routes } from './proxy.js';

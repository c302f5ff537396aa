import type { ChatMessage, ImageLimits, Part } from '@groundcrew/models';

type Image = Extract<Part, { type: 'image' }>;

/** The conversation with a sentence in the place of each image that the model does not take; of too many, the newest stay. */
export function withinImageLimits(
  messages: readonly ChatMessage[],
  limits: ImageLimits,
): readonly ChatMessage[] {
  let left = limits.most ?? Number.POSITIVE_INFINITY;
  const reasonAgainst = (image: Image) => {
    const reason = misfit(image, limits);
    if (reason !== undefined) return reason;
    left -= 1;
    return left < 0 ? tooMany(limits) : undefined;
  };
  return messages
    .toReversed()
    .map((message) => {
      if (message.role !== 'user' || !message.parts.some(isImage)) return message;
      const parts = message.parts.toReversed().map((part) => {
        const reason = isImage(part) ? reasonAgainst(part) : undefined;
        return reason === undefined ? part : { type: 'text' as const, text: `[Image left out: ${reason}]` };
      });
      return { ...message, parts: parts.toReversed() };
    })
    .toReversed();
}

/** What users should know of the images of one prompt. */
export function imageWarnings(parts: readonly Part[], limits: ImageLimits | undefined): readonly string[] {
  if (!limits) return [];
  const images = parts.filter(isImage);
  const misfits = images.flatMap((image) => misfit(image, limits) ?? []);
  const fitting = images.length - misfits.length;
  const surplus = fitting - (limits.most ?? fitting);
  const reasons = [...misfits, ...Array.from({ length: Math.max(surplus, 0) }, () => tooMany(limits))];
  return [...new Set(reasons)].map((reason) => {
    const count = reasons.filter((each) => each === reason).length;
    return `The model does not see ${count === 1 ? 'an image' : `${count} images`} of the prompt: ${reason}.`;
  });
}

function isImage(part: Part): part is Image {
  return part.type === 'image';
}

function misfit({ mimeType, base64 }: Image, { types, largestBytes }: ImageLimits): string | undefined {
  if (types && !types.includes(mimeType))
    return `it is ${mimeType.slice(0, 80)}, and the model takes ${types.join(', ').slice(0, 400)}`;
  const size = Buffer.byteLength(base64, 'base64');
  if (largestBytes !== undefined && size > largestBytes)
    return `it has ${size} bytes, and the model takes ${largestBytes} at most`;
  return undefined;
}

function tooMany({ most }: ImageLimits): string {
  return `the model takes ${most} at a time, and the newest come first`;
}

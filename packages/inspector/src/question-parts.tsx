import { useState } from 'preact/hooks';

/** Whether an answer counted: the first one does. */
export type Answered = Promise<{ readonly success: boolean }>;

/** A field for words beside the buttons. */
export function useWords(label: string) {
  const [words, setWords] = useState('');
  const field = (
    <input
      aria-label={label}
      placeholder={label}
      value={words}
      onInput={({ currentTarget }) => setWords(currentTarget.value)}
    />
  );
  return { words, field };
}

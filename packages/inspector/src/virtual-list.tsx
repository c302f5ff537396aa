import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

const extraRows = 4;

/** A list of rows of one height, of which only those in sight are in the document. */
export function VirtualList<T>({
  items,
  rowHeight,
  label,
  row,
  follows = false,
}: {
  readonly items: readonly T[];
  readonly rowHeight: number;
  readonly label: string;
  row(item: T, index: number): ComponentChildren;
  /** Stays at the end when it is there. */
  readonly follows?: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ first: 0, rows: 40 });
  const isAtEnd = useRef(true);
  const look = () => {
    const { current } = box;
    if (!current) return;
    const first = Math.max(0, Math.floor(current.scrollTop / rowHeight) - extraRows);
    const rows = Math.ceil(current.clientHeight / rowHeight) + 2 * extraRows;
    isAtEnd.current = current.scrollTop + current.clientHeight >= current.scrollHeight - rowHeight;
    setPlace((before) => (before.first === first && before.rows === rows ? before : { first, rows }));
  };
  useLayoutEffect(() => {
    if (follows && isAtEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight });
    look();
  }, [items.length, follows]);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(look);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const { first, rows } = place;
  return (
    <div class="virtual" ref={box} onScroll={look} role="list" aria-label={label} tabIndex={0}>
      <div style={{ height: `${items.length * rowHeight}px` }}>
        <div style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {items.slice(first, first + rows).map((item, index) => (
            <div
              key={index}
              role="listitem"
              aria-setsize={items.length}
              aria-posinset={first + index + 1}
              class="row"
              style={{ height: `${rowHeight}px` }}
            >
              {row(item, first + index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { type Block, blocksOf, type Piece, piecesOf } from './markdown.js';

/** What a model wrote, with its headings, lists, tables and code. Every piece of it is text: no markup of a model is ever run, no link followed. */
export function Markdown({ text }: { readonly text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div class="markdown">
      <Blocks blocks={blocks} />
    </div>
  );
}

function Blocks({ blocks }: { readonly blocks: readonly Block[] }) {
  return (
    <>
      {blocks.map((block, index) => (
        <One key={index} block={block} />
      ))}
    </>
  );
}

function One({ block }: { readonly block: Block }) {
  switch (block.type) {
    case 'paragraph':
      return <p>{inline(block.text)}</p>;
    case 'heading':
      return (
        <div class={`heading level${block.level}`} role="heading" aria-level={Math.min(6, block.level + 1)}>
          {inline(block.text)}
        </div>
      );
    case 'code':
      return <pre tabIndex={0}>{block.text}</pre>;
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'list':
      return <List {...block} />;
    case 'table':
      return <Table {...block} />;
    case 'rule':
      return <hr />;
  }
}

function List({ first, items }: Extract<Block, { readonly type: 'list' }>) {
  const entries = items.map((blocks, index) => (
    <li key={index}>
      <Blocks blocks={blocks} />
    </li>
  ));
  return first === undefined ? <ul>{entries}</ul> : <ol start={first}>{entries}</ol>;
}

function Table({ aligns, rows: [head = [], ...rows] }: Extract<Block, { readonly type: 'table' }>) {
  const looks = (at: number) => (aligns[at] === 'left' ? undefined : aligns[at]);
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} class={looks(index)}>
                {inline(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index} class={looks(index)}>
                  {inline(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(text: string): ComponentChildren {
  return piecesOf(text).map((piece, index) => <Inline key={index} {...piece} />);
}

function Inline({ style, text, to }: Piece) {
  switch (style) {
    case 'plain':
      return <>{text}</>;
    case 'code':
      return <code>{text}</code>;
    case 'bold':
      return <strong>{text}</strong>;
    case 'italic':
      return <em>{text}</em>;
    case 'strike':
      return <s>{text}</s>;
    case 'link':
      return (
        <>
          {text} <span class="to">({to})</span>
        </>
      );
  }
}

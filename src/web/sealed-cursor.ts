import { UserError } from '../user-error.ts';
import { decodeCursor } from './page.ts';

/** Encrypts; `purpose` says what for, and another one does not open it. `open` throws a UserError. */
export interface CursorBox {
  seal(purpose: string, plain: string): Uint8Array;
  open(purpose: string, sealed: Uint8Array): Uint8Array;
}

/**
 * Cursors of a list that can end behind an entry which is not for the caller: its place may be its name, so that they can
 * be read by nobody but us.
 */
export interface SealedCursors {
  encode(position: string): string;
  /** As `decodeCursor`. */
  decode(cursor: string | undefined, valid: RegExp): string | null;
}

/** `list`: whose cursors these are; those of another one are refused. */
export function sealedCursors(box: CursorBox, list: string): SealedCursors {
  const purpose = `cursor ${list}`;

  function opened(cursor: string): string {
    try {
      return Buffer.from(box.open(purpose, Buffer.from(cursor, 'base64url'))).toString('base64url');
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      // No cursor of any list, which is refused by the same words.
      return '*';
    }
  }

  return {
    encode: (position) => Buffer.from(box.seal(purpose, position)).toString('base64url'),
    decode: (cursor, valid) => decodeCursor(cursor ? opened(cursor) : cursor, valid),
  };
}

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { UserError } from '../user-error.ts';

/**
 * Encryption of what must not be readable in the database: AES-256-GCM with a key that lives in a file of
 * its own. `purpose` is authenticated, so that a value cannot be moved to another row.
 * Layout: version (1 byte, 1) | nonce (12) | tag (16) | ciphertext.
 */
export interface SecretBox {
  seal(purpose: string, plain: string | Uint8Array): Uint8Array;
  /** Throws UserError `secret-key-wrong` when the key or the purpose does not match. */
  open(purpose: string, sealed: Uint8Array): Buffer;
}

const version = 1;
const headerLength = 1 + 12 + 16;

export function createSecretBox(key: Uint8Array): SecretBox {
  return {
    seal(purpose, plain) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose));
      const text = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), text]);
    },
    open(purpose, sealed) {
      if (sealed.length < headerLength || sealed[0] !== version) throw wrongKey();
      const bytes = Buffer.from(sealed);
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 13))
        .setAAD(Buffer.from(purpose))
        .setAuthTag(bytes.subarray(13, headerLength));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(headerLength)), decipher.final()]);
      } catch (cause) {
        throw wrongKey(cause);
      }
    },
  };
}

/** Whether the key and the purpose match. */
export function opens(box: SecretBox, purpose: string, sealed: Uint8Array): boolean {
  try {
    box.open(purpose, sealed);
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

function wrongKey(cause?: unknown): UserError {
  return new UserError('secret-key-wrong', 'A stored secret cannot be decrypted with the present key.', {
    hint: 'SECRET_KEY_PATH must name the key file this database was made with.',
    cause,
  });
}

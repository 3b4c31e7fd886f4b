type KeyType = "secret" | "public" | "private";
type KeyUsage = "encrypt" | "decrypt" | "sign" | "verify" | "deriveKey" | "deriveBits" | "wrapKey" | "unwrapKey";
type KeyFormat = "raw" | "pkcs8" | "spki" | "jwk";
interface JsonWebKey {
  kty?: string; alg?: string; crv?: string; use?: string; ext?: boolean; key_ops?: string[];
  k?: string; n?: string; e?: string; d?: string; p?: string; q?: string; dp?: string; dq?: string; qi?: string; x?: string; y?: string;
}
/** A name such as "SHA-256" or "AES-GCM", or an object that has it and parameters. */
type AlgorithmIdentifier = string | { name: string; [parameter: string]: unknown };
interface CryptoKeyPair { publicKey: CryptoKey; privateKey: CryptoKey }

/** A key of crypto.subtle. */
declare class CryptoKey {
  private constructor();
  readonly type: KeyType;
  readonly extractable: boolean;
  readonly algorithm: { name: string; [parameter: string]: unknown };
  readonly usages: KeyUsage[];
}
declare class SubtleCrypto {
  private constructor();
  digest(algorithm: AlgorithmIdentifier, data: BufferSource): Promise<ArrayBuffer>;
  encrypt(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  decrypt(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  sign(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  verify(algorithm: AlgorithmIdentifier, key: CryptoKey, signature: BufferSource, data: BufferSource): Promise<boolean>;
  generateKey(algorithm: { name: "RSASSA-PKCS1-v1_5" | "RSA-PSS" | "RSA-OAEP" | "ECDSA" | "ECDH" | "Ed25519" | "X25519"; [parameter: string]: unknown } | "Ed25519" | "X25519", extractable: boolean, usages: KeyUsage[]): Promise<CryptoKeyPair>;
  generateKey(algorithm: AlgorithmIdentifier, extractable: boolean, usages: KeyUsage[]): Promise<CryptoKey>;
  deriveKey(algorithm: AlgorithmIdentifier, baseKey: CryptoKey, derivedKeyType: AlgorithmIdentifier, extractable: boolean, usages: KeyUsage[]): Promise<CryptoKey>;
  deriveBits(algorithm: AlgorithmIdentifier, baseKey: CryptoKey, length?: number | null): Promise<ArrayBuffer>;
  importKey(format: "jwk", key: JsonWebKey, algorithm: AlgorithmIdentifier, extractable: boolean, usages?: KeyUsage[]): Promise<CryptoKey>;
  importKey(format: "raw" | "pkcs8" | "spki", key: BufferSource, algorithm: AlgorithmIdentifier, extractable: boolean, usages?: KeyUsage[]): Promise<CryptoKey>;
  exportKey(format: "jwk", key: CryptoKey): Promise<JsonWebKey>;
  exportKey(format: "raw" | "pkcs8" | "spki", key: CryptoKey): Promise<ArrayBuffer>;
  wrapKey(format: KeyFormat, key: CryptoKey, wrappingKey: CryptoKey, wrapAlgorithm: AlgorithmIdentifier): Promise<ArrayBuffer>;
  unwrapKey(format: KeyFormat, wrappedKey: BufferSource, unwrappingKey: CryptoKey, unwrapAlgorithm: AlgorithmIdentifier, keyAlgorithm: AlgorithmIdentifier, extractable: boolean, usages?: KeyUsage[]): Promise<CryptoKey>;
}
declare class Crypto {
  private constructor();
  readonly subtle: SubtleCrypto;
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  randomUUID(): string;
}
declare const crypto: Crypto;

declare module "node:crypto" {
  type Encoding = "utf8" | "utf-8" | "utf16le" | "latin1" | "binary" | "ascii" | "hex" | "base64" | "base64url";
  type BinaryLike = string | ArrayBufferView;
  type Secret = BinaryLike | ArrayBuffer | KeyObject | CryptoKey;
  interface KeyInput {
    key: string | ArrayBufferView | ArrayBuffer | KeyObject | CryptoKey | JsonWebKey;
    format?: "pem" | "der" | "jwk"; type?: "pkcs1" | "pkcs8" | "spki" | "sec1";
    padding?: number; saltLength?: number; dsaEncoding?: "der" | "ieee-p1363"; oaepHash?: string; oaepLabel?: ArrayBufferView; encoding?: Encoding;
  }
  type Key = string | ArrayBufferView | ArrayBuffer | KeyObject | CryptoKey | KeyInput;
  interface KeyWriting { type?: "pkcs1" | "pkcs8" | "spki" | "sec1"; format: "pem" | "der" | "jwk" }
  type Callback<T> = (error: Error | null, result: T) => void;

  /** Hash, Hmac, Cipheriv and Decipheriv are streams too. */
  type Transform = import("node:stream").Transform;

  export interface Hash extends Transform {}
  export class Hash {
    constructor(algorithm: string, options?: { outputLength?: number });
    update(data: BinaryLike, inputEncoding?: Encoding): this;
    digest(): Buffer;
    digest(encoding: Encoding): string;
    copy(): Hash;
  }
  export interface Hmac extends Transform {}
  export class Hmac {
    constructor(algorithm: string, key: Secret);
    update(data: BinaryLike, inputEncoding?: Encoding): this;
    digest(): Buffer;
    digest(encoding: Encoding): string;
  }
  export function createHash(algorithm: string, options?: { outputLength?: number }): Hash;
  export function createHmac(algorithm: string, key: Secret, options?: { encoding?: Encoding }): Hmac;
  export function hash(algorithm: string, data: BinaryLike, encoding?: Encoding | "buffer"): string;
  export function getHashes(): string[];

  export function randomBytes(size: number): Buffer;
  export function randomBytes(size: number, callback: Callback<Buffer>): void;
  export function randomFillSync<T extends ArrayBufferView | ArrayBuffer>(buffer: T, offset?: number, size?: number): T;
  export function randomFill<T extends ArrayBufferView | ArrayBuffer>(buffer: T, ...rest: [...(number | undefined)[], Callback<T>]): void;
  export function randomInt(max: number): number;
  export function randomInt(min: number, max: number): number;
  export function randomInt(min: number, max: number, callback: Callback<number>): void;
  export function randomUUID(options?: { disableEntropyCache?: boolean }): string;
  export function timingSafeEqual(a: ArrayBufferView | ArrayBuffer, b: ArrayBufferView | ArrayBuffer): boolean;
  export function getRandomValues<T extends ArrayBufferView>(array: T): T;

  export function pbkdf2Sync(password: BinaryLike, salt: BinaryLike, iterations: number, keylen: number, digest: string): Buffer;
  export function pbkdf2(password: BinaryLike, salt: BinaryLike, iterations: number, keylen: number, digest: string, callback: Callback<Buffer>): void;
  interface ScryptOptions { N?: number; cost?: number; r?: number; blockSize?: number; p?: number; parallelization?: number; maxmem?: number }
  export function scryptSync(password: BinaryLike, salt: BinaryLike, keylen: number, options?: ScryptOptions): Buffer;
  export function scrypt(password: BinaryLike, salt: BinaryLike, keylen: number, callback: Callback<Buffer>): void;
  export function scrypt(password: BinaryLike, salt: BinaryLike, keylen: number, options: ScryptOptions, callback: Callback<Buffer>): void;
  export function hkdfSync(digest: string, key: Secret, salt: BinaryLike, info: BinaryLike, keylen: number): ArrayBuffer;
  export function hkdf(digest: string, key: Secret, salt: BinaryLike, info: BinaryLike, keylen: number, callback: Callback<ArrayBuffer>): void;

  export interface Cipheriv extends Transform {}
  export class Cipheriv {
    constructor(algorithm: string, key: Secret, iv: BinaryLike | null, options?: { authTagLength?: number });
    update(data: BinaryLike): Buffer;
    update(data: ArrayBufferView, inputEncoding: undefined, outputEncoding: Encoding): string;
    update(data: string, inputEncoding: Encoding | undefined): Buffer;
    update(data: string, inputEncoding: Encoding | undefined, outputEncoding: Encoding): string;
    final(): Buffer;
    final(outputEncoding: Encoding): string;
    setAutoPadding(on?: boolean): this;
    setAAD(buffer: ArrayBufferView, options?: { plaintextLength?: number }): this;
    getAuthTag(): Buffer;
  }
  export interface Decipheriv extends Transform {}
  export class Decipheriv {
    constructor(algorithm: string, key: Secret, iv: BinaryLike | null, options?: { authTagLength?: number });
    update(data: ArrayBufferView): Buffer;
    update(data: ArrayBufferView, inputEncoding: undefined, outputEncoding: Encoding): string;
    update(data: string, inputEncoding: Encoding | undefined): Buffer;
    update(data: string, inputEncoding: Encoding | undefined, outputEncoding: Encoding): string;
    final(): Buffer;
    final(outputEncoding: Encoding): string;
    setAutoPadding(on?: boolean): this;
    setAAD(buffer: ArrayBufferView, options?: { plaintextLength?: number }): this;
    setAuthTag(tag: ArrayBufferView): this;
  }
  export function createCipheriv(algorithm: string, key: Secret, iv: BinaryLike | null, options?: { authTagLength?: number }): Cipheriv;
  export function createDecipheriv(algorithm: string, key: Secret, iv: BinaryLike | null, options?: { authTagLength?: number }): Decipheriv;
  export function getCiphers(): string[];
  export function getCipherInfo(name: string): { mode: string; name: string; keyLength: number; ivLength?: number; blockSize?: number } | undefined;

  export class KeyObject {
    private constructor();
    static from(key: CryptoKey): KeyObject;
    readonly type: KeyType;
    readonly symmetricKeySize?: number;
    readonly asymmetricKeyType?: "rsa" | "rsa-pss" | "ec" | "ed25519" | "x25519";
    readonly asymmetricKeyDetails?: { modulusLength?: number; publicExponent?: bigint; namedCurve?: string };
    equals(other: KeyObject): boolean;
    export(options: { format: "jwk" }): JsonWebKey;
    export(options: KeyWriting & { format: "pem" }): string;
    export(options?: KeyWriting): Buffer;
  }
  export function createSecretKey(key: BinaryLike | ArrayBuffer, encoding?: Encoding): KeyObject;
  export function createPrivateKey(key: Key): KeyObject;
  export function createPublicKey(key: Key): KeyObject;
  interface KeyPairOptions { modulusLength?: number; publicExponent?: number; namedCurve?: string; publicKeyEncoding?: KeyWriting; privateKeyEncoding?: KeyWriting }
  export function generateKeyPairSync(type: string, options?: KeyPairOptions): { publicKey: any; privateKey: any };
  export function generateKeyPair(type: string, options: KeyPairOptions, callback: (error: Error | null, publicKey: any, privateKey: any) => void): void;
  export function generateKeySync(type: "hmac" | "aes", options: { length: number }): KeyObject;
  export function generateKey(type: "hmac" | "aes", options: { length: number }, callback: Callback<KeyObject>): void;

  export class Sign {
    constructor(algorithm: string);
    update(data: BinaryLike, inputEncoding?: Encoding): this;
    write(data: BinaryLike, inputEncoding?: Encoding): this;
    end(data?: BinaryLike): this;
    sign(key: Key): Buffer;
    sign(key: Key, outputEncoding: Encoding): string;
  }
  export class Verify {
    constructor(algorithm: string);
    update(data: BinaryLike, inputEncoding?: Encoding): this;
    write(data: BinaryLike, inputEncoding?: Encoding): this;
    end(data?: BinaryLike): this;
    verify(key: Key, signature: BinaryLike, signatureEncoding?: Encoding): boolean;
  }
  export function createSign(algorithm: string): Sign;
  export function createVerify(algorithm: string): Verify;
  export function sign(algorithm: string | null | undefined, data: ArrayBufferView | ArrayBuffer, key: Key): Buffer;
  export function sign(algorithm: string | null | undefined, data: ArrayBufferView | ArrayBuffer, key: Key, callback: Callback<Buffer>): void;
  export function verify(algorithm: string | null | undefined, data: ArrayBufferView | ArrayBuffer, key: Key, signature: ArrayBufferView | ArrayBuffer): boolean;
  export function verify(algorithm: string | null | undefined, data: ArrayBufferView | ArrayBuffer, key: Key, signature: ArrayBufferView | ArrayBuffer, callback: Callback<boolean>): void;
  export function publicEncrypt(key: Key, data: BinaryLike): Buffer;
  export function privateDecrypt(key: Key, data: BinaryLike): Buffer;
  export function privateEncrypt(key: Key, data: BinaryLike): Buffer;
  export function publicDecrypt(key: Key, data: BinaryLike): Buffer;

  export class ECDH {
    constructor(curve: string);
    generateKeys(): Buffer;
    generateKeys(encoding: Encoding, format?: "compressed" | "uncompressed"): string;
    getPublicKey(encoding?: null, format?: "compressed" | "uncompressed"): Buffer;
    getPublicKey(encoding: Encoding, format?: "compressed" | "uncompressed"): string;
    getPrivateKey(): Buffer;
    getPrivateKey(encoding: Encoding): string;
    setPrivateKey(key: BinaryLike, encoding?: Encoding): this;
    computeSecret(otherPublicKey: BinaryLike, inputEncoding?: Encoding): Buffer;
    computeSecret(otherPublicKey: BinaryLike, inputEncoding: Encoding | undefined, outputEncoding: Encoding): string;
  }
  export function createECDH(curve: string): ECDH;
  export function getCurves(): string[];
  export function diffieHellman(options: { privateKey: KeyObject; publicKey: KeyObject }): Buffer;

  export const constants: Readonly<Record<
    "RSA_PKCS1_PADDING" | "RSA_PKCS1_OAEP_PADDING" | "RSA_PKCS1_PSS_PADDING" | "RSA_PSS_SALTLEN_DIGEST" | "RSA_PSS_SALTLEN_MAX_SIGN" | "RSA_PSS_SALTLEN_AUTO", number>>;
  export const webcrypto: Crypto;
  export const subtle: SubtleCrypto;
  const module: typeof import("node:crypto");
  export default module;
}

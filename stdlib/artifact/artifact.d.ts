/** What was kept of a run. */
interface Artifact {
  readonly id: string;
  /** The name that was asked for, made harmless. */
  readonly name: string;
  readonly mime: string;
  /** In bytes. */
  readonly size: number;
  readonly sha256: string;
  readonly uri: string;
}
/** A file that the run may read, by its path. */
interface ArtifactFile {
  readonly path: string;
  readonly mime?: string;
}
/**
 * Keeps data beyond the run, under a name. Text is kept as UTF-8, bytes and blobs as they are, of an image, audio or
 * resource of a tool's answer what it holds, and of an answer that holds one such block, that; anything else as JSON.
 */
declare function artifact(name: string, data: string | ArrayBuffer | ArrayBufferView | Blob | ArtifactFile | object): Promise<Artifact>;

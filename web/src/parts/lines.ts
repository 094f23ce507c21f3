/* Many lines of a list. The daemon answers with 200 at most, so more are asked for in several
   questions; what is written meanwhile moves the others down, so some may come twice. */

const MOST = 200

/** Ask for so many lines, in as many questions as it takes. */
export function inParts<T>(wanted: number, ask: (offset: number, limit: number) => Promise<T>): Promise<T[]> {
  const starts = Array.from({ length: Math.ceil(wanted / MOST) }, (_, at) => at * MOST)
  return Promise.all(starts.map((offset) => ask(offset, Math.min(MOST, wanted - offset))))
}

/** All of several lists, each only once. */
export function joined<T>(lists: T[][], key: (each: T) => string): T[] {
  return [...new Map(lists.flat().map((each) => [key(each), each])).values()]
}

/** Some of many, each as likely as any other, without keeping the many (reservoir sampling, algorithm R). */
export function makeSample<T>(size: number, random: () => number) {
  const kept: T[] = []
  let seen = 0
  return {
    add(item: () => T): void {
      const at = seen < size ? seen : Math.floor(random() * (seen + 1))
      seen++
      if (at < size) kept[at] = item()
    },
    all: (): readonly T[] => kept,
  }
}

export function bundlePage(outdir: string): Promise<void>

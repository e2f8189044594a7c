/** What a command printed, with the lines joined again that it folded at eighty columns: each stands below its label. */
export function unfolded(output: string): string {
  return output.replace(/\n {12,}(?=\S)/g, ' ')
}

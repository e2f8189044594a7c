/** Joins the lines of an output again that the command folded at eighty columns; each stands below its label. */
export function unfolded(output: string): string {
  return output.replace(/\n {12,}(?=\S)/g, ' ')
}

const FORM = new Intl.NumberFormat('en-US')

/** 1234567 as 1,234,567. */
export function figure(count: number): string {
  return FORM.format(count)
}

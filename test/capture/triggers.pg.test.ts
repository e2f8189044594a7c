import { captureConformance } from './conformance.ts'
import { triggerMode } from './trigger-mode.ts'

captureConformance(triggerMode)

// What the demo's customers are made of. Frequent Spanish names; nobody in particular.

export const WOMEN = [
  'María',
  'Carmen',
  'Lucía',
  'Ana',
  'Isabel',
  'Laura',
  'Cristina',
  'Marta',
  'Pilar',
  'Elena',
  'Nuria',
  'Rocío',
  'Inés',
  'Begoña',
  'Montserrat',
  'Ainhoa',
] as const

export const MEN = [
  'Antonio',
  'Manuel',
  'José',
  'Francisco',
  'David',
  'Javier',
  'Daniel',
  'Carlos',
  'Miguel',
  'Rafael',
  'Pablo',
  'Ángel',
  'Íñigo',
  'Jordi',
  'Andrés',
  'Álvaro',
] as const

export const SURNAMES = [
  'García',
  'Rodríguez',
  'González',
  'Fernández',
  'López',
  'Martínez',
  'Sánchez',
  'Pérez',
  'Gómez',
  'Martín',
  'Jiménez',
  'Hernández',
  'Díaz',
  'Moreno',
  'Muñoz',
  'Álvarez',
  'Romero',
  'Gutiérrez',
  'Navarro',
  'Torres',
  'Domínguez',
  'Vázquez',
  'Ramos',
  'Serrano',
  'Blanco',
  'Molina',
  'Ortega',
  'Castro',
  'Núñez',
  'Ibáñez',
  'Peña',
  'Echeverría',
] as const

/** Each with the language that its customers chose most. */
export const PROVINCES = [
  { provincia: 'Madrid', idioma: 'es' },
  { provincia: 'Barcelona', idioma: 'es' },
  { provincia: 'Valencia', idioma: 'es' },
  { provincia: 'Sevilla', idioma: 'es' },
  { provincia: 'Bizkaia', idioma: 'es' },
  { provincia: 'A Coruña', idioma: 'gl' },
  { provincia: 'Málaga', idioma: 'es' },
  { provincia: 'Girona', idioma: 'ca' },
] as const

/** Reserved for examples: mail to them reaches nobody. */
export const MAIL_DOMAINS = ['example.com', 'example.org', 'example.net'] as const

export const GROUPS = ['particulares', 'autónomos', 'familias'] as const

export const NOTES = [
  'Prefiere que la llamen por la tarde',
  'Cliente desde 2014',
  'Recomendado por otro cliente',
  'Factura a nombre de la empresa',
] as const

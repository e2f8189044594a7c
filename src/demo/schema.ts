// The tables of a small Spanish shop, as they might stand in the database of an integrator.

/** The plan stands in a table of its own; rollcall reads the view and watches the two tables behind it. */
export const SCHEMA = `
CREATE TABLE public.clientes (
  id            text PRIMARY KEY,
  nombre        text NOT NULL,
  apellido1     text NOT NULL,
  apellido2     text,
  correo        text,
  dni           text,
  sexo          text,
  nacimiento    date,
  movil         text,
  pais          text NOT NULL,
  idioma        text,
  provincia     text,
  grupo         text,
  notas         text,
  ultima_visita timestamptz
);
CREATE TABLE public.suscripciones (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  cliente_id text NOT NULL UNIQUE REFERENCES public.clientes ON DELETE CASCADE,
  plan       text NOT NULL CHECK (plan IN ('gratis', 'premium', 'prueba')),
  contrato   text NOT NULL
);
CREATE VIEW public.v_clientes AS
  SELECT c.id, c.nombre, c.apellido1, c.apellido2, c.correo, c.dni, c.sexo, c.nacimiento, c.movil, c.pais,
    c.idioma, c.grupo, c.notas, s.plan, s.contrato
  FROM public.clientes c LEFT JOIN public.suscripciones s ON s.cliente_id = c.id`

-- The application's own tables: who a customer is, and what was bought. rollcall reads the view.
CREATE TABLE clientes (
  numero           bigint PRIMARY KEY,
  correo           text,
  dni              text,
  nombre           text,
  apellidos        text,
  sexo             text,
  fecha_nacimiento date,
  movil            text,
  idioma           char(2),
  baja             boolean NOT NULL DEFAULT false,
  notas_internas   text
);

CREATE TABLE suscripciones (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  numero_cliente bigint NOT NULL REFERENCES clientes (numero) ON DELETE CASCADE,
  plan           text NOT NULL,
  contrato       text,
  activa         boolean NOT NULL DEFAULT true
);
CREATE UNIQUE INDEX ON suscripciones (numero_cliente) WHERE activa;

CREATE VIEW v_clientes AS
  SELECT c.numero, c.correo, c.dni, c.nombre, c.apellidos, c.sexo, c.fecha_nacimiento, c.movil, c.idioma,
    c.baja, s.plan, s.contrato
  FROM clientes c
  LEFT JOIN suscripciones s ON s.numero_cliente = c.numero AND s.activa;

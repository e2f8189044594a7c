-- What an application does to its customers; safe to run again.
\set ON_ERROR_STOP on

BEGIN;
DELETE FROM clientes;
INSERT INTO clientes (numero, correo, dni, nombre, apellidos, sexo, fecha_nacimiento, movil, idioma)
SELECT i, 'cliente' || i || '@example.com',
  lpad(i::text, 8, '0') || substr('TRWAGMYFPDXBNJZSQVHLCKE', (i % 23)::int + 1, 1),
  (ARRAY['Ana', 'Luis', 'Carmen', 'Javier', 'Nuria'])[1 + i % 5], 'García ' || i,
  (ARRAY['M', 'H'])[1 + i % 2], date '1960-01-01' + (i * 137)::int, '600' || lpad(i::text, 6, '0'), 'es'
FROM generate_series(1, 200) AS i;
INSERT INTO suscripciones (numero_cliente, plan, contrato)
SELECT i, (ARRAY['premium', 'prueba', 'gratis'])[1 + i % 3], 'C-' || i FROM generate_series(1, 200) AS i;
COMMIT;
\echo 200 customers inserted
SELECT pg_sleep(10) \g /dev/null

UPDATE clientes SET correo = 'nuevo' || numero || '@example.com' WHERE numero % 10 = 0;
UPDATE clientes SET notas_internas = 'nothing that is mapped: no call' WHERE numero % 2 = 0;
\echo 20 addresses changed
SELECT pg_sleep(5) \g /dev/null

UPDATE suscripciones SET plan = 'premium' WHERE plan = 'gratis' AND numero_cliente % 2 = 0;
\echo free customers became premium
SELECT pg_sleep(5) \g /dev/null

DELETE FROM clientes WHERE numero <= 5;
UPDATE clientes SET baja = true WHERE numero BETWEEN 6 AND 8;
\echo 8 customers left

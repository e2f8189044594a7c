# rollcall as an image: the command line with nothing beside it. A configuration is mounted or copied to
# /srv/rollcall/rollcall.config.ts; every other setting comes from the environment.
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No install scripts: they would fetch another Node and a Postgres, which only a checkout needs.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN npm run build

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/dist dist
COPY drizzle drizzle
COPY package.json LICENSE ./
RUN ln -s /app/dist/cli/bin.js /usr/local/bin/rollcall
USER node
WORKDIR /srv/rollcall
ENTRYPOINT ["rollcall"]
CMD ["worker"]

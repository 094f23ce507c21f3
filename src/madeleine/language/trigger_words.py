"""Words by which deeds and the memories about them are known: programs, environments, kinds of
work, and what says that something must or must not be done, in the languages that notes are
written in.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RUNNERS = _words("sudo env time nohup exec command doas nice xargs")
"""Words before a program that only say how it is run."""

READING_PROGRAMS = _words("""
ls cat head tail less more grep rg ag ack find fd wc file stat du df pwd which whereis tree diff
cmp date whoami id uname env printenv ps top htop free uptime jq yq awk sort uniq cut man type
hexdump xxd strings md5sum sha256sum bat eza echo nl column
""")
"""Programs that change nothing."""

READING_VERBS = _words("""
list ls get show status log logs describe diff plan fmt view info version check parse validate
explain top ps history read head tail cat grep query search inspect blame outdated audit whoami
doctor lint events releases tree why help render template output state
""")
"""Words after a program that make it change nothing."""

WRITING_FLAGS = _words("--fix --write --delete -delete --apply -i --in-place --auto-fix --force -A")

READING_TOOLS = _words("""
read list get search grep glob ls fetch view show find history lookup status open query check
""")
"""Words in the name of a tool that changes nothing."""

PROGRAMS = _words("""
git gh glab hub npm npx pnpm yarn bun deno node pip pip3 pipx uv poetry pdm conda mamba python
python3 pytest tox nox ruff black mypy flake8 pylint terraform tofu terragrunt pulumi ansible
ansible-playbook packer vault consul nomad kubectl helm helmfile kustomize argocd flux k9s minikube
docker docker-compose podman buildah make cmake ninja bazel gradle gradlew mvn sbt ant cargo rustc
go gofmt golangci-lint dotnet msbuild nuget dbt sqlfluff airflow alembic flyway liquibase rails rake
bundle bundler gem rspec rubocop heroku fly vercel netlify wrangler firebase gcloud bq gsutil aws
az doctl psql mysql sqlite3 mongosh redis-cli snowsql clickhouse-client ssh scp rsync sftp curl wget
http rm mv cp mkdir touch chmod chown ln sed tee dd systemctl service journalctl crontab apt apt-get
brew dnf yum pacman apk snap flatpak flutter dart fvm pod xcodebuild swift fastlane adb conan vcpkg
meson clang-format clang-tidy php composer artisan symfony mix elixir iex stack cabal ghc lua
luarocks nix nixos-rebuild just task pre-commit lerna nx turbo vite webpack tsc eslint
prettier jest vitest
playwright cypress storybook changeset semantic-release tern goose sqlc buf protoc amtool promtool
k6 locust ffmpeg convert magick pandoc latexmk typst hugo jekyll zola mkdocs sphinx-build jupyter
quarto tar zip unzip gzip gpg openssl certbot nginx caddy supervisorctl pm2 gunicorn uvicorn celery
lkr looker spark-submit sam serverless cdk sls atlas prisma drizzle sequelize knex typeorm
""")
"""Programs that notes speak of by name."""

ENVIRONMENT_BY_WORD: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("prod", "production", "prd", "produktion", "producción"), "production"),
        **dict.fromkeys(("staging", "stg", "stage", "preprod", "uat"), "staging"),
        **dict.fromkeys(("dev", "development", "sandbox"), "development"),
    }
)

_ACTIVITIES = {
    "commit": "commit commits committed committing",
    "branch": "branch branches checkout switch",
    "push": "push pushes pushed pushing force-push",
    "merge": "merge merges merged rebase squash",
    "pull_request": "pr prs pull mr mrs",
    "deploy": "deploy deploys deployed deployment deployments rollout apply upgrade",
    "release": "release releases released tag tags publish published",
    "migrate": "migrate migration migrations migrated backfill",
    "test": "test tests testing spec specs pytest jest vitest rspec fixtures",
    "install": "install add dependency dependencies package packages upgrade",
    "delete": "delete deletes deleted remove removed rm drop truncate purge destroy",
    "email": "email e-mail mail mails emails correo correos courriel newsletter smtp",
    "message": "text sms whatsapp telegram zalo slack chat message messages signal dm",
    "calendar": "calendar calendario kalender meeting appointment termin event schedule",
    "order": "order orders shop buy purchase cart bestellen comprar pedido",
    "post": "post posts blog publish upload instagram web",
    "letter": "letter letters brief briefe carta lettre lettera",
    "invoice": "invoice invoices rechnung factura facture quote quotes offer",
    "pay": "pay payment payments transfer bank überweisung",
    "call": "call phone dial",
    "book": "book booking bookings reserve reservation",
}
ACTIVITY_BY_WORD: Mapping[str, str] = MappingProxyType(
    {word: activity for activity, words in _ACTIVITIES.items() for word in words.split()}
)
"""Words of notes and tools, and the kind of work that they speak of."""

CONSTRAINT_WORDS = _words("""
never always only must mustn't don't dont not no none nobody nothing without unless except until
before after instead forbidden banned allowed ask approval approve approves approved signs sign owns
owner review reviewed reviews needs need requires required frozen read-only generated vendored
careful please stop retired deprecated gone use uses using keep keeps stays exactly first every
each at least most max min limit avoid refuse rejected
nie niemals immer nur nicht kein keine keinen muss müssen darf ohne bitte erst vorher statt verboten
nunca siempre sólo solo no ningún ninguna sin nada jamás hay antes después prohibido debe
obligatorio
jamais toujours seulement pas aucun sans avant doit interdit uniquement ne
mai sempre solo senza prima deve vietato non
nunca sempre só apenas não sem deve proibido
nooit altijd alleen niet geen moet zonder eerst verboden
""")
"""Words by which a note says how something is to be done, or that it must not be."""

PROHIBITING_WORDS = _words("""
never not don't dont no none nobody nothing without unless except until only mustn't forbidden
banned isn't aren't can't cannot won't nor neither frozen generated vendored read-only locked
untouched off-limits ask owns owner sign signs approval approve approves yes ok okay review reviews
nie nicht kein keine keinen niemals nur verboten nunca jamás ni sin nada sólo ningún jamais pas sans
aucun seulement mai non senza niente não nem sem niet geen zonder nooit ani bez tylko zero ikke
aldrig inte kun
""")
"""Words of a clause that says what must not be done, or not by everybody."""

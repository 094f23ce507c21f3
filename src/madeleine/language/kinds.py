"""What takes the place of what: names of one kind, attributes that have one value, opposites.

A project that uses Postgres no longer uses SQLite, but may well use Docker. Nothing in the
sentences says so; these tables know it of names that agents meet daily. A name that stands in
none of them is of no known kind, and then other signs have to do.
"""

from __future__ import annotations

from collections.abc import Iterable

from madeleine.language.stems import stem

_KINDS = """
database: sqlite postgres postgresql mysql mariadb mongodb mongo redis duckdb cassandra dynamodb
database: firestore firebase supabase cockroachdb couchdb neo4j elasticsearch opensearch oracle
database: mssql clickhouse influxdb timescaledb planetscale falkordb qdrant pinecone weaviate
database: chroma
language: python javascript typescript rust go golang java kotlin swift ruby php elixir erlang
language: scala haskell c++ c# perl lua dart zig julia clojure ocaml nim crystal elm gleam fortran
language: cobol pascal prolog lisp scheme
framework: django flask fastapi rails express nestjs spring laravel starlette phoenix gin actix
frontend: react vue svelte angular solid preact ember nextjs next.js nuxt remix astro htmx
styling: tailwind bootstrap bulma foundation material chakra
editor: vim neovim emacs vscode pycharm intellij sublime zed helix cursor
formatter: black ruff prettier yapf gofmt biome autopep8 rustfmt scalafmt ktlint dprint rubocop
linter: eslint tslint flake8 pylint ruff biome mypy pyright
packaging: pip poetry uv conda pdm pipenv npm yarn pnpm bun hatch
testing: pytest unittest jest vitest mocha jasmine nose cypress playwright selenium tox rspec junit
cloud: aws azure gcp heroku render fly.io vercel netlify digitalocean linode hetzner cloudflare ovh
cloud: scaleway railway
orchestration: kubernetes nomad swarm ecs compose systemd
ci: jenkins travis circleci buildkite drone teamcity
forge: github gitlab bitbucket codeberg gitea
branching: trunk gitflow rebase squash
queue: kafka rabbitmq nats sqs celery rq sidekiq pulsar
chat: slack discord teams mattermost zulip telegram whatsapp signal
tracker: jira linear trello asana notion basecamp monday.com clickup
notes: obsidian notion evernote onenote logseq roam
references: zotero mendeley endnote paperpile
system: ubuntu debian fedora arch macos windows nixos alpine centos
shell: bash zsh fish powershell nushell
browser: firefox chrome safari edge brave opera
protocol: rest graphql grpc soap websocket
format: json yaml toml xml csv protobuf parquet
indent: tabs spaces
quotes: single double
theme: dark light
case: snake_case camelcase kebab-case
license: mit apache gpl bsd agpl mpl lgpl
model: gpt claude gemini llama mistral qwen deepseek phi
payment: stripe paypal adyen square braintree
monitoring: grafana datadog newrelic sentry prometheus splunk
auth: oauth jwt saml session passkey
day: monday tuesday wednesday thursday friday saturday sunday
month: january february april june july august september october november december
season: spring summer autumn winter
color: red blue green yellow black white purple orange pink brown grey gray teal
drink: coffee tea water juice beer wine espresso latte matcha cocoa mate lemonade cider milk
drink: buttermilk cappuccino mocha kombucha soda cola smoothie chai whisky rum ale tonic ayran kefir
food: peanuts walnuts hazelnuts almonds cashews nuts sesame celery mustard soy eggs egg shellfish
food: shrimp wheat gluten lactose strawberries kiwi pollen apples bread pasta rice pizza cheese
food: chocolate curry sushi soup salad porridge muesli toast yoghurt tofu beans lentils
diet: vegan vegetarian pescatarian omnivore keto paleo halal kosher
pet: dog cat rabbit hamster parrot turtle fish tortoise ferret gecko goldfish beagle dachshund
pet: poodle terrier puppy kitten budgie canary snake lizard mouse pony labrador spaniel collie
hobby: pottery knitting fencing rowing chess gardening painting photography baking fishing hiking
hobby: archery sewing birdwatching woodworking calligraphy dancing sailing surfing skiing judo
hobby: karate boxing golf badminton volleyball hockey origami astronomy
city: london paris berlin madrid rome lisbon dublin vienna prague warsaw oslo stockholm helsinki
city: copenhagen amsterdam brussels zurich geneva munich hamburg barcelona milan athens budapest
city: boston chicago seattle denver austin portland toronto montreal vancouver sydney melbourne
city: tokyo osaka kyoto seoul beijing shanghai singapore bangkok mumbai delhi nairobi cairo
city: lagos dubai izmir istanbul ankara perth brisbane adelaide auckland wellington turin naples
city: florence venice porto valencia seville lyon marseille nice antwerp ghent bruges cologne
city: frankfurt stuttgart leipzig dresden bremen graz salzburg bern basel krakow gdansk riga vilnius
city: tallinn bergen trondheim gothenburg malmo tampere turku reykjavik edinburgh glasgow manchester
city: liverpool bristol leeds cardiff belfast cork galway miami dallas houston philadelphia detroit
city: atlanta ottawa calgary quebec lima quito bogota santiago havana tunis casablanca accra kampala
city: hanoi manila jakarta taipei nagoya sapporo busan bengaluru chennai pune kolkata lahore karachi
country: france germany spain italy portugal ireland austria poland norway sweden finland
country: denmark netherlands belgium switzerland england scotland canada mexico brazil argentina
country: japan china india australia
transport: car bus train bike bicycle tram subway
meal: breakfast lunch dinner
part: morning afternoon evening night
instrument: piano guitar violin cello drums flute trumpet saxophone
sport: tennis football soccer basketball running swimming cycling climbing yoga
"""
_FUNCTIONAL = """
live lives based located reside favourite favorite prefer prefers preferred name named called
deadline port default email phone address manager lead owner due scheduled schedule married
primary main official version status age birthday budget salary host hosted database language
framework editor branch theme timezone currency license licence password limit quota capital boss
employer wife husband pronouns size colour color release meeting appointment standup deploy
deployed interval timeout retention weight priority subscription seat diet indentation formatter
linter
"""
_SELECTING = """
left right north south east west morning evening early late inside outside indoors outdoors man
woman boy girl male female men women boys girls big small large tall short young old
"""
_OPPOSITES = """
like:dislike love:hate enjoy:hate enjoy:dislike enable:disable enabled:disabled allow:forbid
allow:ban allowed:forbidden accept:reject accepted:rejected approve:reject success:failure
succeed:fail pass:fail true:false open:closed open:shut increase:decrease rise:fall raise:lower
win:lose start:stop begin:end buy:sell public:private sync:async synchronous:asynchronous
manual:automatic required:optional mandatory:optional always:never everyone:nobody all:none
tabs:spaces dark:light morning:evening early:late online:offline remote:onsite inside:outside
indoors:outdoors vegetarian:meat single:married happy:sad safe:unsafe safe:dangerous
cheap:expensive fast:slow hot:cold full:empty present:absent agree:disagree support:oppose
trust:distrust prefer:avoid recommend:avoid add:remove include:exclude install:uninstall
connect:disconnect asleep:awake standing:sitting stand:sit man:woman boy:girl male:female
men:women boys:girls big:small large:small tall:short young:old empty:full dry:wet left:right
north:south east:west push:pull import:export lock:unlock encrypted:unencrypted stable:unstable
monolith:microservices monorepo:polyrepo hosted:local internal:external strict:loose quiet:loud
introvert:extrovert keep:delete kept:deleted keep:drop alive:dead employed:unemployed
"""


def _build_kinds(text: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for kind, _, names in (line.partition(": ") for line in text.strip().splitlines()):
        for word in names.split():
            found.setdefault(stem(word), set()).add(kind)
    return {word: frozenset(kinds) for word, kinds in found.items()}


KINDS_BY_STEM = _build_kinds(_KINDS)
"""The kinds of a name, by its stem: black is a formatter and a colour."""

SINGLE_VALUE_STEMS = frozenset(stem(word) for word in _FUNCTIONAL.split())
"""Stems of words for what has one value at a time."""


def _build_opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split():
        one, other = (stem(word) for word in pair.split(":"))
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {word: frozenset(against) for word, against in found.items()}


OPPOSITES = _build_opposites()
"""What means the contrary of a word, by stems."""

SELECTING_STEMS = frozenset(stem(word) for word in _SELECTING.split())
"""Stems of opposites that may say which one is meant: who has a left knee has a right one too."""


def find_kinds(stems: Iterable[str]) -> frozenset[str]:
    """Return the kinds of the names among some stems."""
    return frozenset().union(*(KINDS_BY_STEM[each] for each in stems if each in KINDS_BY_STEM))


def find_opposites(one: frozenset[str], other: frozenset[str]) -> tuple[str, str] | None:
    """Return two words that contradict each other, one of each side, if there are any.

    Both sides may use both words; only a word that the other side lacks counts."""
    for word in sorted(one - other):
        against = OPPOSITES.get(word)
        if against and (found := against & (other - one)):
            return word, min(found)
    return None

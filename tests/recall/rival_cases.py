"""Pairs of notes with a question: the same matter told twice, and look-alikes of two matters.

Each is a question, an older note and a newer one.
"""

from __future__ import annotations

RIVALS = (
    (
        "which day is the on-call handover?",
        "On-call handover is on Wednesdays at 10.",
        "On-call handover is on Mondays at 11.",
    ),
    (
        "how long are backups kept?",
        "Backups are kept for 30 days.",
        "Backups are kept for 14 days since the new bucket.",
    ),
    (
        "what does parking cost?",
        "Parking costs 45 euros a month.",
        "Parking costs 52 euros a month.",
    ),
    (
        "which database do we use?",
        "The database of the shop is MySQL 5.7.",
        "The database of the shop is PostgreSQL 16 now.",
    ),
    (
        "who is my dentist?",
        "My dentist is Dr Hale on Mill Street.",
        "My dentist is Dr Osei on Mill Street.",
    ),
    (
        "when do the bins go out?",
        "The bins go out on Tuesday night.",
        "The bins go out on Sunday night.",
    ),
    (
        "what is the wifi password hint?",
        "The wifi password hint is the name of the first boat.",
        "The wifi password hint is the name of the old dog.",
    ),
    (
        "where does Marta live?",
        "Marta lives in Lisbon near the river.",
        "Marta lives in Porto near the river.",
    ),
    (
        "which Node version is pinned?",
        "Node is pinned to version 18.19.",
        "Node is pinned to version 22.4.",
    ),
    (
        "how much is the rent?",
        "The rent is 1,180 euros with heating.",
        "The rent is 1,240 euros with heating.",
    ),
    (
        "when does the choir meet?",
        "The choir meets on Thursdays at seven in the parish hall.",
        "The choir meets on Tuesdays at half past seven in the parish hall.",
    ),
    (
        "what is the deploy window?",
        "The deploy window is Tuesday afternoon.",
        "The deploy window is Thursday morning.",
    ),
    (
        "what is the timeout of the gateway?",
        "The gateway timeout is 800 ms.",
        "The gateway timeout is 600 ms.",
    ),
    (
        "how many seats does the licence have?",
        "The design licence has 12 seats.",
        "The design licence has 20 seats.",
    ),
    (
        "which tablet do I take?",
        "I take 5 mg of ramipril in the morning.",
        "I take 8 mg of candesartan in the morning instead of ramipril.",
    ),
    (
        "what tool do we use for CI?",
        "CI runs on Buildkite.",
        "CI was moved from Buildkite to GitHub Actions.",
    ),
    (
        "who approves travel?",
        "Travel is approved by Renata in finance.",
        "Travel is approved by Gil in finance.",
    ),
    (
        "when does the bakery close?",
        "The bakery closes at six on Saturdays.",
        "The bakery closes at four on Saturdays.",
    ),
    (
        "what is the speed limit on the site road?",
        "The speed limit on the site road is 20 km/h.",
        "The speed limit on the site road is 10 km/h.",
    ),
    (
        "what is the hydration of the dough?",
        "Sourdough at 74 % water and 2.1 % salt.",
        "Sourdough at 71 % water and 2.1 % salt.",
    ),
    (
        "where is the key for the shed?",
        "The key for the shed hangs behind the kitchen door.",
        "The key for the shed lies in the blue tin on the shelf.",
    ),
    (
        "Wann ist die Teamrunde?",
        "Die Teamrunde ist montags um 10 Uhr.",
        "Die Teamrunde ist mittwochs um 9 Uhr.",
    ),
)
"""The newer one comes first."""

LOOKALIKES = (
    (
        "which postgres do the databases run?",
        "The staging database runs Postgres 14.",
        "The production database runs Postgres 16.",
    ),
    (
        "how is a deploy done?",
        "Deploys to staging go through Argo.",
        "Deploys to production go through Jenkins.",
    ),
    ("where do they live?", "Ana lives in Ghent.", "Bob lives in Bruges."),
    (
        "what temperature do the cold stores have?",
        "Cold store 1 is kept at 3 °C.",
        "Cold store 2 is kept at 1 °C.",
    ),
    (
        "what is the rent of the plot?",
        "The rent for plot 23 is £52 a year.",
        "The rent for plot 24 is £58 a year.",
    ),
    (
        "when is press day?",
        "Issue 88 goes to press on 10 November.",
        "Issue 89 goes to press on 8 December.",
    ),
    (
        "which framework is the app written in?",
        "The iOS app is written in SwiftUI.",
        "The Android app is written in Compose.",
    ),
    (
        "when are the birthdays?",
        "My sister's birthday is on 4 March.",
        "My brother's birthday is on 9 June.",
    ),
    (
        "which knee hurts?",
        "The left knee was operated in 2019.",
        "The right knee was operated in 2023.",
    ),
    (
        "what are the opening hours?",
        "Summer opening hours are 9 to 18.",
        "Winter opening hours are 10 to 16.",
    ),
    (
        "what does a ticket cost?",
        "A ticket for an adult costs 12 euros.",
        "A ticket for a child costs 7 euros.",
    ),
    (
        "what colour is the lantern?",
        "The amber lantern hangs in the hall.",
        "The beige lantern hangs in the hall.",
    ),
    (
        "where is the tap?",
        "The kitchen tap drips at night.",
        "The bathroom tap drips in the morning.",
    ),
    (
        "what is the size of the queue?",
        "The input queue holds 500 jobs.",
        "The output queue holds 200 jobs.",
    ),
    (
        "what is the limit?",
        "The upload limit is 20 MB.",
        "The download limit is 200 MB.",
    ),
    (
        "what does Tobias not do any more?",
        "Tobias no longer eats fish.",
        "Tobias also no longer drinks milk.",
    ),
    (
        "what about the norwich workshop?",
        "The workshop in Norwich has twelve places.",
        "The workshop in Leeds has nine places.",
    ),
    (
        "how much is a print?",
        "A large print costs £42.",
        "A small print costs £24.",
    ),
    (
        "when is the meeting?",
        "The meeting with Velloway is on Monday at nine.",
        "The meeting with Larkfield is on Friday at ten.",
    ),
    (
        "what is the password policy?",
        "The personal account needs a password of 12 letters.",
        "The business account needs a password of 20 letters.",
    ),
    (
        "which port does the server listen on?",
        "The server web-1 listens on port 8080.",
        "The server web-2 listens on port 8081.",
    ),
    (
        "who looks after the cat?",
        "Ines feeds the cat on weekdays.",
        "Ines feeds the cat on the weekend with dry food.",
    ),
    (
        "which way does the ferry go?",
        "The ferry to Bergen goes at eight.",
        "The ferry from Bergen goes at four.",
    ),
    (
        "how do I reach the boiler?",
        "The boiler is behind the panel in the cellar.",
        "The boiler is behind the panel in the cellar, next to the meter.",
    ),
)
"""They stay where they are."""

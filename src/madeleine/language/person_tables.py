"""Attributes of a person, and the words that ask for them or state them.

The tables are plain English and meant to be added to. Attributes of tools (`editor`, `tests`) come
from `attributes.py`, and the names of tools and other things (`pytest`, `Fedora`) from `kinds.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from madeleine.language.attributes import FAMILIES_BY_STEMS
from madeleine.language.late_pattern import compile_late
from madeleine.language.small_talk_words import EMPTY_WORDS
from madeleine.language.stems import stem

Phrase = tuple[str, ...]
NOTHING: frozenset[str] = frozenset()
PREFERENCES = "preferences"
GOALS = "goals"


def word_set(text: str) -> frozenset[str]:
    """Return the words of a table."""
    return frozenset(text.split())


def stem_set(text: str) -> frozenset[str]:
    """Return the stems of the words of a table."""
    return frozenset(map(stem, text.split()))


_BOTH = """
name: name, surname, first name, last name, full name, middle name, maiden name, nickname, initials
name: family name, pen name
home: live, lives, living, lived, reside, resident, apartment, flat, house, bungalow, cottage
home: address, home address, postcode, zip code, neighbourhood, neighborhood, landlord, hometown
home: studio apartment, houseboat, farmhouse, villa, dormitory, moved to, relocated to, townhouse
home: based in, settled in, street, condo
origin: nationality, citizen, citizenship, birthplace, grow up, grew up, raised, come from
origin: comes from, came from, native of, immigrated, emigrated, heritage, roots
origin: place of birth, originally from, ancestry, ethnicity
birthday: birthday, born, birth date, birthdate, date of birth, star sign, zodiac
age: age, years old, year old
job: job, employer, employed, employee, profession, occupation, career, job title, for a living
job: retire, retired, freelance, freelancer, self employed, unemployed, teach, taught, workplace
job: work as, works as, working as, work at, works at, working at, work for, works for, working for
job: line of work, day job, professionally, boss, company, profession, business, internship
job: apprentice, earn a living
hours: working hours, work hours, office hours, work schedule, schedule, shift, shifts, night shift
hours: part time, full time, day off, days off, nine to five, availability, on call
money: salary, income, wage, earn, bank, mortgage, debt, pension, loan, savings account, net worth
education: degree, graduate, graduated, university degree, diploma, phd, doctorate, bachelor
education: alma mater, msc, bsc, mba, llb, llm, meng, beng, masters, bachelors
education: went to school, go to school, went to university, go to university, qualification, major
education: bachelor's, master's, studied, went to college, go to college, education
spouse: wife, husband, spouse, partner, girlfriend, boyfriend, fiance, fiancee, married, marry
spouse: engaged, divorced, widow, widowed, widower, relationship, ex wife, ex husband, am dating
spouse: is dating, been dating, who dating, started dating
spouse: wedding anniversary, significant other, better half, anniversary, marriage
children: child, children, kid, kids, son, sons, daughter, daughters, baby, toddler, stepson
children: twins, twin girls, twin boys, stepdaughter, father of, mother of, dad of, mum of
children: mom of, teenager, parent of
grandchildren: grandchild, grandchildren, grandkid, grandkids, grandson, granddaughter
parents: mother, father, mum, mom, dad, parent, parents, stepmother, stepfather, mother in law
parents: father in law, in laws
siblings: brother, brothers, sister, sisters, sibling, siblings, twin brother, twin sister
siblings: brother in law, sister in law
grandparents: grandmother, grandfather, grandparents, grandma, grandpa, granny
relatives: aunt, uncle, cousin, niece, nephew, relative, relatives, godson, goddaughter
friends: friend, friends, best friend, flatmate, roommate, housemate, buddy
pets: pet, pets, animal, animals, dog, dogs, cat, cats, puppy, kitten, rabbit, hamster, parrot
pets: guinea pig, horse
pets: goldfish, tortoise, budgie, greyhound, labrador, terrier, collie, poodle, spaniel, beagle
pets: dachshund, husky, bulldog, tabby, siamese, pony, hens, chickens, aquarium
health: illness, ill, disease, medical condition, medical conditions, condition, diagnosed, health
health: diagnosis, disability, disabled, chronic, surgery, injury, injured, suffer, suffers, symptom
health: symptoms, medical history, health problem, health issue, medical, pregnant, therapy
health: glasses, hearing aid, blood pressure, sick
heart: heart, cardiac, cardiovascular, heart attack, heart condition, heart problem
lungs: lung, lungs, breathing, asthma, copd
joints: knee, knees, hip, hips, ankle, shoulder, elbow, wrist, joint, joints, spine, neck, back pain
eyes: eyes, eyesight, vision, glasses
ears: hearing, ears, ear
skin: skin, eczema, psoriasis
stomach: stomach, gut, bowel, digestion
mind: mental health, depression, anxiety
medication: medication, medications, medicine, meds, pills, tablets, prescription, prescribed
medication: inhaler
allergy: allergy, allergies, allergic, intolerant, intolerance, anaphylaxis, epipen
diet: diet, eat, eats, food, foods, meat, vegetarian, vegan, pescatarian, gluten free, halal, kosher
diet: dish, meal, cuisine, cook, cooks, snack, breakfast, lunch, dinner, dietary, dessert, fasting
drink: drink, drinks, drinking, beverage, alcohol, teetotal
sport: sport, sports, exercise, gym, workout, athletic
music: instrument, music, band, concert, choir, orchestra
reading: book, books, novel, novels, author, genre, paperback, ebook, e book, hardcover
travel: travel, vacation, holiday, holidays, trip
religion: religion, religious, faith, church, mosque, synagogue, temple, believe in, denomination
religion: christian, catholic, anglican, protestant, muslim, islam, jewish, judaism, buddhist, hindu
religion: atheist, agnostic, orthodox, quaker, sikh, baptist, lutheran, methodist
politics: politics, political, vote, voted, politically
spoken: speak, speaks, fluent, mother tongue, native language, first language, second language
spoken: bilingual, trilingual, native speaker, foreign language, foreign languages, language course
devices: laptop, computer, phone, smartphone, tablet, desktop, monitor, keyboard, mouse, machine
devices: headphones, camera, macbook, iphone, thinkpad, ipad, chromebook, android, printer, pc
devices: e reader, hardware, console
vehicle: car, drive, drives, drove, vehicle, motorbike, motorcycle, bike, bicycle, scooter, van
vehicle: driving licence, driving license, driver's license, driver's licence, commute, get to work
vehicle: gets to work, get around, gets around, cycle to work, truck
style: answer, answers, reply, replies, response, responses, explain, explained, explains
style: explanation, explanations, tone, verbosity, talk to me, speak to me, respond to me
reminders: reminder, reminders, be reminded, reminded, notified, notification, notifications
goals: goal, goals, aim, ambition, ambitions, resolution, resolutions, training for, saving for
goals: studying for, working towards, working toward, saving up, aspire, bucket list, preparing for
contact: email, e mail, email address, contact details, username, website, handle
telephone: contact details, phone number, mobile number, telephone, telephone number, cell number
timezone: timezone, time zone, utc
appearance: height, tall, weight, weigh, weighs, hair, eye colour, eye color, shoe size
appearance: clothing size
appearance: blood type, blood group, dress size, shirt size
personality: personality, introvert, extrovert, introverted, extroverted, mbti, temperament
skills: skill, skills, strength, strengths, weakness, weaknesses, experience, expertise, good at
skills: talent, talents, background
fears: afraid, fear, fears, phobia, scared
pronouns: pronouns, gender
insurance: insurance, insured, insurer
documents: passport, passport number, id number, id card, social security, social security number
documents: ssn, tax id, tax number, iban, account number, licence number, license number
"""
"""Attribute: the words and turns of phrase that ask for it, or state it."""

_ASKED = """
home: home, location, city, town, village, country, stay, based, move to, moved
telephone: number
origin: from, where born, hometown
birthday: how old, age
age: how old
job: work, working, worked, role, position, title
hours: when work, hours
name: call me, who i am
money: money, earning, paid
education: university, college, school, study, studies, degrees
diet: favourite food, favorite food
health: operation, operations
children: twins, girls, boys
spoken: language, languages
drink: coffee, tea, beer, wine
hobbies: hobby, hobbies, free time, spare time, pastime, pastimes, for fun, weekend, weekends
hobbies: interest, interests, leisure, interested in, after work, to relax, passion, passions
music: listen to, play
reading: like to read, to read, read for fun
skills: best at
goals: plan, plans, dream, dreams, achieve, training, striving, working to achieve, hoping
preferences: pet peeve, pet peeves
style: explain things, talk, respond
- : work on, working on, working with, work with, work in progress, worked on
"""
"""What only asks for an attribute; a dash stands for none."""

_STATED = """
children: twins, twin girls, twin boys, two girls, two boys, three girls, three boys
health: had an operation, was operated, had surgery
name: goes by, go by, known as, calls me, call me, call him, call her, is called
name: calls him, calls her
home: rent, rents, moved into, own house, lodger, subletting, settled down in, home town
origin: born and raised, is from, am from, came to, hails
job: works in, work in, working in, runs a, run a, owns a business, founder, cofounder, co founder
job: ceo, cto, manager, team lead, on the payroll, hired by, on sabbatical, stay at home
hours: works nights, works from, work from, works mornings, works evenings, works weekends, meetings
hours: works every, open from, opening hours, closed on, works monday, working week, work week
hours: works four days, works three days
birthday: turned, turns, birth
age: turned, turns
education: ba in, ma in, bs in, ms in, b a in, m a in, master of, degree from, attended
education: alumnus, alumna
telephone: mobile is, cell is, phone is, my mobile
medication: takes, take, twice a day, once a day, every morning, mg, dose, insulin, triptans
health: diabetes, diabetic, asthma, migraine, migraines, epilepsy, depression, anxiety, adhd, autism
health: autistic, cancer, arthritis, hypertension, fibrillation, celiac, coeliac, crohn, insomnia
health: anaemia, anemia, thyroid, sclerosis, dyslexia, dyslexic, tinnitus, sciatica, eczema, copd
health: psoriasis, replaced hip, knee was replaced, hip was replaced, pacemaker, stroke, wheelchair
health: recovering, cholesterol, glaucoma, cataract, deaf, hard of hearing, blind, colour blind
health: color blind, back pain, slipped disc, endometriosis, pcos, hiv, hepatitis, burnout, kidney
health: lupus, parkinson, dementia, osteoporosis, fibromyalgia, apnea, apnoea, bipolar, ptsd, gout
health: heart attack, arrhythmia, knee, hip, was operated, broke his, broke her, broke my, ulcer
health: reflux, ibs, colitis, vertigo, rosacea, hay fever
heart: fibrillation, arrhythmia, pacemaker, angina, blood pressure, hypertension, stent, bypass
joints: his back, her back, my back, bad back, lower back, arthritis, slipped disc, sciatica
joints: meniscus
eyes: glaucoma, cataract, cataracts, short sighted, near sighted, contact lenses, colour blind
ears: tinnitus, deaf, hearing aid, hard of hearing
stomach: reflux, ibs, colitis, crohn, ulcer, coeliac, celiac
mind: adhd, autism, bipolar, ptsd, burnout, therapist, panic attacks
diet: doesn't eat, don't eat, avoids, lactose, fasts, keto, paleo
hobbies: plays, play, paints, paint, sings, sing, grows, grow, garden, knits, knit, collects
hobbies: collect
hobbies: hobby, hobbies, enjoys, hikes, hike, bakes, bake, photography, chess, fishing, birdwatching
hobbies: dances, dance, sews, sew, crochet, pottery, woodworking, allotment, restores, volunteers
hobbies: volunteer, gaming, plays in, in spare time, sails, sail, choir, brews, writes poetry
hobbies: climbs, climb, runs, swims, cycles, rides, skis, surfs, bouldering, yoga, martial
sport: climbs, climb, runs, run, jogs, jog, swims, swim, cycles, skis, surfs, bouldering, marathon
sport: yoga, pilates, futsal, football, soccer, tennis, rugby, volleyball, basketball, rows, boxing
sport: hockey, karate, judo, triathlon, team, handball, badminton, golf, cricket, hikes, hike
music: plays the, sings, sing, choir, violin, guitar, piano, cello, drums, flute, alto, tenor
music: soprano, saxophone, trumpet, listens to, bass, trio, quartet, quintet, keyboards, harp, viola
music: clarinet, oboe, organ, accordion, ukulele, drummer, bassist, guitarist, pianist, violinist
religion: ramadan, prays, pray, practising, practicing, mass
devices: kobo, kindle, pixel, galaxy, imac, dell, surface, apple watch
vehicle: honda, toyota, volkswagen, vw, ford, tesla, skoda, fiat, renault, peugeot, bmw, audi
vehicle: volvo, mazda, hyundai, kia, nissan, opel, citroen, seat ibiza, subaru, takes the train
vehicle: takes the bus, walks to work, e bike, gazelle
style: bullet points, concise, terse, brief, verbose, jargon, preamble, plain words, emoji
reading: reads, e books
goals: wants to, want to, hopes to, hope to, plans to, plan to, dreams of, dream of, aims to
goals: saves, saving, is training for, is studying for, would like to, intends to, working towards
spoken: german, english, french, spanish, italian, portuguese, dutch, turkish, polish, russian
spoken: arabic, chinese, mandarin, cantonese, japanese, korean, hindi, urdu, bengali, greek
spoken: swedish, danish, norwegian, finnish, hebrew, czech, hungarian, romanian, ukrainian
spoken: vietnamese, thai, tagalog, swahili, igbo, yoruba, persian, farsi, catalan, welsh, irish
timezone: gmt, cet, cest, pst, est, central european time
appearance: cm, kg
money: earns, owes, euros a month, dollars a month, pounds a month
"""
"""What only states an attribute."""

_PROFESSIONS = """
accountant actor actress actuary administrator analyst anaesthetist archaeologist architect artist
astronomer attorney auditor baker banker barber barista bartender biologist bookkeeper
bricklayer broker builder butcher carer caretaker carpenter cashier chef chemist cleaner clerk coach
composer conductor consultant contractor cook counsellor courier curator dancer dentist designer
developer dietitian diplomat director doctor driver economist electrician engineer
entrepreneur farmer firefighter fisherman florist gardener geologist goldsmith gp hairdresser
historian housekeeper illustrator interpreter janitor jeweller journalist judge lawyer lecturer
librarian linguist locksmith magistrate manager masseur mathematician mechanic midwife miner
musician nanny neurologist notary nurse nutritionist officer optician painter paramedic pastor
pathologist pharmacist photographer physician physicist physiotherapist pianist pilot plumber poet
policeman policewoman postdoc potter priest producer professor programmer psychiatrist psychologist
radiologist realtor receptionist recruiter researcher sailor salesman saleswoman scientist sculptor
secretary shepherd shopkeeper singer soldier solicitor statistician stonemason student surgeon
surveyor sysadmin tailor teacher technician therapist translator treasurer trucker tutor undertaker
vet veterinarian violinist waiter waitress weaver welder writer youtuber zoologist
"""

RELATIONS = frozenset(
    {"spouse", "children", "grandchildren", "parents", "siblings", "grandparents", "relatives"}
)
OTHER_BEINGS = RELATIONS | {"friends", "pets"}
"""Attributes that are somebody else: what is said of them is not said of the person."""
PRIVATE_ATTRIBUTES = (
    RELATIONS
    | {"family"}
    | word_set("""
contact telephone birthday age health heart lungs joints eyes ears skin stomach mind medication
allergy money home origin documents insurance religion politics appearance
""")
)
"""Attributes that work on a program never needs, whatever its fields are called."""
WIDER_ATTRIBUTES: Mapping[str, frozenset[str]] = {
    "family": RELATIONS,
    "hobbies": frozenset({"sport", "music"}),
}
"""Attributes that others are part of."""
TOOL_FAMILIES = word_set("""
editor tests format lint build pipeline system shell browser notes tracker channel database
framework language theme host repository queue monitoring docs protocol
""")
"""Families of `attributes.py` that a person has a favourite of."""
_TOOL_WORDS_LEFT = stem_set("""
run check write written build built code coded order keep own data answer server serve release
link talk discuss machine desktop laptop language store storage style record note save event job
call message provider reach address live host implement
""")
"""Stems of words that ask for a tool in a statement about a project only."""


def _read_entries(text: str) -> Iterator[tuple[str, Phrase]]:
    for line in text.strip().splitlines():
        aspect, _, told = line.partition(":")
        for phrase in told.split(","):
            yield aspect.strip(), tuple(stem(each) for each in phrase.split())


def _build_table(*texts: str) -> dict[Phrase, frozenset[str]]:
    found: dict[Phrase, set[str]] = {}
    for text in texts:
        for aspect, phrase in _read_entries(text):
            found.setdefault(phrase, set()).update({aspect} - {"-"})
    return {phrase: frozenset(aspects) for phrase, aspects in found.items()}


def _build_tool_words() -> dict[Phrase, frozenset[str]]:
    """Return the words that ask for a tool, as `attributes.py` has them."""
    return {
        phrase: families & TOOL_FAMILIES
        for phrase, families in FAMILIES_BY_STEMS.items()
        if families & TOOL_FAMILIES and phrase[0] not in _TOOL_WORDS_LEFT
    }


def _merge_tables(*tables: Mapping[Phrase, frozenset[str]]) -> dict[Phrase, frozenset[str]]:
    found: dict[Phrase, frozenset[str]] = {}
    for table in tables:
        for phrase, aspects in table.items():
            found[phrase] = found.get(phrase, NOTHING) | aspects
    return found


_CODING = _build_table(
    "tests: test framework, testing framework, unit testing\n"
    "language: programming language, programming languages, coding language, code in\n"
    "notes: notes app, note taking app, notes tool, note taking\n"
    "channel: messenger, chat app, messaging app"
)
_FAMILY = _build_table("family: family, relatives, loved ones, next of kin, household")
TOOL_WORDS = _build_tool_words()
ASKED_PHRASES = _merge_tables(_build_table(_BOTH, _ASKED), TOOL_WORDS, _CODING, _FAMILY)
STATED_PHRASES = _merge_tables(
    _build_table(_BOTH, _STATED),
    _build_table("\n".join(f"job: {each}" for each in _PROFESSIONS.split())),
    _build_table("family: family"),
)
_TABLE_WORDS = frozenset(re.findall(r"[\w']+", f"{_BOTH}{_ASKED}{_STATED}")) | {
    "code",
    "in",
    "taking",
}
LONGEST_PHRASE = max(map(len, (*ASKED_PHRASES, *STATED_PHRASES)))

DRUG_NAME = compile_late(
    r"\w{3,}(?:aban|pril|sartan|statin|cillin|olol|azole|formin|triptan|profen|pam|trexate|oxetine"
    r"|thyroxine|mycin|dipine|gliptin|flozin|semide|parin|lukast|terol|solone|sone|mab|nib)s?"
)
_TOKEN = compile_late(r"[^\W_]+(?:['’][^\W_]+)*")
_SHORT_FORMS = {
    "what's": "what is", "whats": "what is", "where's": "where is", "wheres": "where is",
    "when's": "when is", "whens": "when is", "who's": "who is", "whos": "who is",
    "how's": "how is", "hows": "how is", "i'm": "i am", "im": "i am", "i've": "i have",
    "ive": "i have", "i'd": "i would", "i'll": "i will", "don't": "do not", "dont": "do not",
    "doesn't": "does not", "didn't": "did not", "can't": "can not", "cant": "can not",
    "cannot": "can not", "won't": "will not", "isn't": "is not", "aren't": "are not",
    "wasn't": "was not", "u": "you", "ur": "your", "you've": "you have", "that's": "that is",
    "couldn't": "could not", "you're": "you are", "youre": "you are", "shouldn't": "should not",
}  # fmt: skip
_MEASURES = word_set("""
old tall far long many much often big heavy kind sort type
""")
"""Words after `how` or `what` that name nothing themselves."""


def read_tokens(text: str) -> list[str]:
    found = (each.lower().replace("’", "'") for each in _TOKEN.findall(text))
    return [part for each in found for part in _SHORT_FORMS.get(each, each).split()]


def content_stems(tokens: Iterable[str]) -> frozenset[str]:
    """Return the stems of the words that name something."""
    return frozenset(
        stem(each.removesuffix("'s"))
        for each in tokens
        if each not in EMPTY_WORDS and each not in _MEASURES and len(each) > 1
    )


def find_phrases(
    table: Mapping[Phrase, frozenset[str]], stems: Sequence[str]
) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Give where the longest turns of phrase of a table stand, one after another."""
    place = 0
    while place < len(stems):
        for length in range(min(LONGEST_PHRASE, len(stems) - place), 0, -1):
            aspects = table.get(tuple(stems[place : place + length]))
            if aspects is not None:
                yield place, place + length, aspects
                place += length - 1
                break
        place += 1


def find_aspects(table: Mapping[Phrase, frozenset[str]], tokens: Iterable[str]) -> frozenset[str]:
    stems = phrase_stems(tokens)
    return frozenset().union(*(aspects for _, _, aspects in find_phrases(table, stems)))


def phrase_stems(tokens: Iterable[str]) -> list[str]:
    """Return the stems of words. A word for talking counts only as it stands in a table: `them`
    has the stem of `theme`, and `care` that of `car`."""
    return [
        ""
        if each == "locate" or (each in EMPTY_WORDS and each not in _TABLE_WORDS)
        else stem(each.removesuffix("'s"))
        for each in tokens
    ]

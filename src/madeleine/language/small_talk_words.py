"""Words by which one talks without naming anything, by language. Meant to be added to."""

from __future__ import annotations

from madeleine.language.word_hints import QUESTION_WORDS, STOP_WORDS

_EMPTY = """
ability able above absolutely accept according actual actually add adding additional afraid ago
agree agreed ah aha aight ain't allow allowed almost alright alternative although always amazing
annoyed annoying another answer answered answers anybody anymore anyone anything anyway anyways
apologies apologise apologize appreciate appreciated aren't ask asked asking asks assume attempt
aware away awesome aye back bad basically bear because become begin beginning behind believe below
best bet better beyond big bit bless blimey bored bother brb break breakdown brief briefly
brilliant bring brings bro broken btw busy but bye call called came can't cancel care careful
carry case cause certain certainly check checked checking cheers choice choose chosen
clarification clarified clarify clarifying clear clearer clearly clueless come comes coming
comment complete completely confirm confirmed confused confusing consider continue continued
continuing convinced cool correct correctly could could've couldn't course crap crazy curious damn
dear decide decided deep deeper definitely depends depth describe describes detail detailed
details did didn't different differently difficult direction disagree doesn't doing don't done
doubt dr dude dumb dummy dunno easier easy eh either elaborate elaborated elaborating else end
enough entire entirely especially etc even ever every everybody everyone everything exact exactly
example examples excellent except excited exciting excuse expand expect expected explain explained
explaining explains explanation extra eye face fact fair fairly fantastic far fast favor favour
feedback feel feeling figure figured final finally find fine finish finished finishes finishing
first five fix fixed focus folks follow following forget forgot forward found four free frustrated
fuck fucking full fully fun funny further future fyi gave general generally gets getting give
given gives giving glad god goes gone gonna good goodbye goodness gosh gotcha gotta great guess
guessing guy guys ha hadn't half hand handle hang happen happened happening happens happy hard
hardly hasn't hate haven't he'd he'll head hear heard heck hell hello help helped helpful helping
helps hence hesitate hey hi hint hit hm hmm hmmm hold honest honestly hope hopefully hoping how's
however huge huh humour hungry hurry i'd i'll idea ideas idk ignore im imagine immediately imo
important impressed impressive including indeed info information input inside instead instruction
instructions intend interesting isn't issue it'd it'll it's ive jeez joking jump keep keeping
keeps kept kidding kind kinda kindly knew knowing known knows lack last lastly late later latter
leave leaving left less lets letting lgtm likely likes list listen listening literally little lmk
lol long longer look looked looking looks lord lost lot lots love loved lovely luck mad made main
mainly makes making man manage many mate matter matters maybe mean meaning means meant mention
mentioned mess message messages messed mhm might've mind minute minutes miss missed missing
mistake mm moment mood mouth move moving much must've nah nailed name naturally necessarily
necessary need needed needs neither nervous never nevermind new next nice nicely night nobody nod
none nope normal normally note noted nothing noticed now number obvious obviously odd often oh ok
okay okey omg one ones onward onwards opinion option options original originally others otherwise
outcome overall overwhelmed part particular pass past pause perfect perfectly perhaps permission
personally phrase pick place plain play plus point pointed points possible possibly ppl precise
precisely prefer preferably preference preferred presumably pretty previous previously probably
problem problems proceed process prompt proper properly proud provide pursue put putting question
questions quick quickly quiet quite rather reach read reading ready real realise realised realize
realized reason reasonable reasons recap receive received recommend recommends redo regarding
regards relax rely remain remind reminder repeat rephrase reply request respond response rest
result results resume retry return reworded rid right rough rubbish run running safe saw saying
says second seconds see seeing seem seems seen self send sense sentence separate serious seriously
set several shall share she'd shit shoot short shorten shorter shortly should've shouldn't show
showed showing shown shut side similar simple simpler simplify simply since single sir six skip
slightly slow slower slowly small smart somebody somebody's somehow someone something sometimes
somewhat somewhere soon sorry sort sorted sound sounded sounds spare speak specific specifically
spot stand start started starting starts stay step steps stick still stop stopped story straight
strange struggling stuck stuff stupid such sucks suddenly suggest suggested suggestion suggestions
suggests suit suits sum summarise summarize summary super suppose supposed sure surely surprise
surprised swear take takes taking talk talking tbh tell telling tells ten terrible terrific thank
thanks thanx that'd that'll thats theory there'd there's therefore they'd they'll they've thing
things thinking thinks third this'll thorough though thought thoughts three through thus thx time
times tip tips tired tl tldr today together told tomorrow ton tonight top total totally tough
trick tried trouble true truly trust try trying turn twice two ty type typo ugh uh uhh um umm
unclear understand understanding understands understood undo unfortunately unless unsure upon use
used useful uses using usual usually various verify wait waiting walk wanna want wanted wanting
wants warning wasn't wasnt watch way ways we'd we'll we're we've weird welcome well what'd what'll
what're whatever whats whenever where'd wheres wherever whether whichever who'd whoever whole whos
why why'd why's wild willing wise wish within without won't wonder wondered wonderful wondering
word worded wording words work worked working works worried worry worse worst worth would've
wouldn't wow wrap write wrong y'all ya ya'll yay yeah yeap yep yes yet yikes yo you'd you'll
you've yup zero
"""
_ELSEWHERE = """
aber alle allem alles also am an auch auf aus bei beim bescheid bin bist bitte brauche bringt
dabei dafür dann das dass davon dazu dein deine dem den denke denken denkst der die dies diese
dieses dir doch du egal ein eine einen einer einfach einmal er erklär erkläre erklären erzähl
erzähle es etwas fange fertig finde frage für gar geh geht genau gerade gib glaub glaube gleich
gut hab habe haben hast hat hier hilf ich ihm ihn ihr im in ist ja jetzt kann kannst kein keine
klar können könntest lass lasse leid los mach mache machen machst mag mal man mehr mein meine
meinst meinte mich mir mit moment muss müssen nach nachdenken nächste nein nicht nichts noch
nochmal nun nur ob oder ok okay richtig sag sage sagen schon sehe sehen sei sein seit sich sicher
sie sind so soll sollen sollte sonst tue tun tut über und uns verstanden verstehe vielleicht vom
von vor war warte warten warum was weiß weißt weiter welche welchen welcher welches wenn wer werde
wie wieder wieso wir wird wirklich wo wofür womit zeig zeige zu zum zur überlegen weitermachen

ai aide aider ainsi aller alors arrête as assez attends au aucune aussi autre autres aux avec avez
avoir besoin bien bon bonne c'est ca ce cela celle celui certain ces cet cette ceux ça chose
choses comme comment comprends continue continuer crois d'accord d'autre dans de demande des dis
dis-moi dire dites dois donc donne du d'un d'une elle en encore entendu es est et été être
exactement exemple explique expliquer explications fais faire faut fini fois ici idée il j'ai
j'aimerais je j'en juste l'autre la là laisse le les leur lui m'en ma mais me merci mes mieux moi
moins mon même n'est ne non nous oh ok on ou où oui par pardon parce pas pense penser peu peut
peux plus possible pour pourquoi pouvez prochaine préviens qu'est-ce qu'il que quel quelle quelles
quels qui quoi raconte regarde répète réfléchir rien s'il sais sans se si sois son sont suis
suivant suivante sur sûr ta te tel tes toi ton toujours tous tout toute tu un une va vais vas veux
voici voilà voir vois vous vrai vraiment y êtes

a acuerdo adelante ahora al algo alguna alto así aunque avísame ayuda ayúdame bien bueno cada
claro como con continúa creo cual cuando cuál cuáles cuéntame cómo da dame de debería debo decir
del demás dice digo dime dijo donde dónde duda e eh ejemplo el él ella en entendido entiendo
entonces era eres es esa ese eso espera esta estaba estamos este esto estoy está están explica
explícame explícalo favor fue gracias ha hace hacer hacerlo haces hago has hasta hay haz hazlo he
hola idea igual intenta la las le listo lo los luego me mejor menos mi mira mis mismo momento muy
más muéstrame nada ni no nos o ok otra otro otros para parece pensar pensarlo pero perfecto pienso
poco podría por porque puede puedes puedo pues que qué quiero quien quién repite sabes sea según
seguir seguro ser será si sí siempre sigue siguiente sin sobre solo son soy sé su sus también tan
tanto te tener tengo termina termines terminado ti tiene todo todos tu tus tú u un una uno vale
vamos ver verdad vez voy y ya yo déjame

ah allora altro anche ancora aspetta attimo avanti bene beh bisogno c'è capisco capito che chi ci
ciò come con continua cosa così credo cui da dai dammi davvero del della dello devo di dimmi dire
dopo dove dovrei due e è ecco ed era esempio essere fa faccio fai fallo fammi far fare fatto
fermati forse già giusto gli grazie ho i il in infatti invece io l'altro la le lo loro ma mai me
meglio mi mio molto ne nel nemmeno niente no noi non o ogni ok oppure ora parte penso pensarci
pensare per perché perfetto però più piacere po' poco poi posso potresti prego prima prossimo
proprio prova pure può qual quale quando quello questa questo qui ragione riprova sa sapere scusa
se sei sembra senza si sì sia sicuro siamo so solo sono spiega spiegami stai sto su sul sulla
tanto te ti tra tu tutti tutto tuo un un'altra una uno va vabbè vado vai vedere vediamo vedo vero
voglio vuoi

acho agora ainda ajuda ajude algo além alguma antes aqui assim até avisa bem bom cada calma
certeza certo claro com como conta conta-me continua continue da dá dê de deixa deixe deve devo
diga diz dizer do dos e é ela ele em então entendi era espera espere essa esse esta está estou eu
exemplo explica explique faça faço faz fazer feito fique foi for fosse ficou isso isto já legal
lhe mais mas me mesmo meu mim minha mostra muito na nada não nem no nos o obrigada obrigado ok
onde os ou outra outro para parece pelo pensar penso perfeito pode poderia por porque porquê posso
pouco pra precisa preciso pronto próximo qual quais qualquer quando que quem quero quê repete sabe
se segue sei seja sem ser será seu sim só sobre sou sua tá também te tem tenho tento tipo toda
todo tu tudo um uma vai vamos ver verdade vez você vou

aan al alleen alles als alsjeblieft anders begrijp ben bent bij dacht dan dank dat de denk denken
deze die dit doe doen doet doorgaan door dus een eens en er even ga gaan gaat gedaan geef geen
geloof genoeg goed graag haal heb hebben hebt heel heeft help het hij hoe hoezo hou ik in is ja je
jij jou jouw kan klaar klopt kom kun kunt laat later leg maak maar me meer mij mijn misschien moet
moeten mooi na naar nadenken nee net niet niets nog nu of om ook op over precies probeer snap
sorry stop te toch toe tot uit uitleggen u vaak van veel verder vertel volgende voor vraag waar
waarom wacht want wat we weer weet welke wel wie wil worden wordt zal ze zeg zeggen zeker zelf zet
zie zien zijn zo zonder zou
"""
"""German, French, Spanish, Italian, Portuguese and Dutch, in this order."""

EMPTY_WORDS = frozenset(_EMPTY.split()) | STOP_WORDS | QUESTION_WORDS
"""English words by which one talks without naming anything."""
ANY_EMPTY = EMPTY_WORDS | frozenset(_ELSEWHERE.split())
"""The same, and those of the other languages."""

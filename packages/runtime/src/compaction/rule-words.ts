/** Words by which users give rules that are to hold from then on, or say what they want from then on; by language. */
const spelled = [
  `always, never, must, mustn't, shall, not, don't, dont, doesn't, won't, cannot, can't, should, shouldn't, ought, need, needs, have to, has to`,
  `from now on, going forward, from here on, in future, in the future, until further notice, throughout, each time, every time, at all times`,
  `make sure, ensure, remember, keep in mind, bear in mind, note that, important, rule, rules, guideline, guidelines, convention, conventions`,
  `policy, prefer, preferably, avoid, refrain, only, solely, exclusively, strictly, whenever, unless, require, required, requires, mandatory`,
  `forbidden, prohibited, banned, disallowed, off limits, off-limits, no longer, no more, under no circumstances, without exception`,
  `no exceptions, instead, rather than, stick to, stay away, leave alone, default to, by default, at most, at least, nobody, nothing, none, no`,
  `goal, goals, objective, aim, new task, change of plan, the task is, i want, i'd like, we want, i insist, i expect, we use, we follow, we call`,
  `immer, niemals, nie, nicht, kein, keine, keinen, keinem, keiner, muss, müssen, musst, darf, darfst, dürfen, soll, sollen, sollst, nur`,
  `ausschließlich, stattdessen, statt, vermeide, vermeiden, verboten, pflicht, ab jetzt, ab sofort, von nun an, künftig, in zukunft, stets`,
  `grundsätzlich, regel, regeln, ziel, wichtig, denk daran`,
  `toujours, jamais, ne, il faut, dois, devez, doit, doivent, dorénavant, désormais, uniquement, seulement, évite, évitez, éviter, interdit`,
  `interdite, obligatoire, à partir de maintenant, règle, règles, objectif, sauf, aucun, aucune, plutôt, au lieu de, souviens-toi, pas de`,
  `siempre, nunca, jamás, debe, deben, debes, tienes que, hay que, solo, sólo, solamente, únicamente, evita, evite, evitar, prohibido`,
  `prohibida, obligatorio, a partir de ahora, de ahora en adelante, no uses, regla, reglas, objetivo, recuerda, salvo, ningún, ninguna`,
  `en lugar de, en vez de, sempre, jamais, deve, devem, tem que, apenas, somente, proibido, proibida, obrigatório, a partir de agora`,
  `não, regra, regras, lembre-se, exceto, nenhum, nenhuma, em vez de, mai, devi, devono, bisogna, soltanto, solamente, unicamente, vietato`,
  `obbligatorio, d'ora in poi, da ora in poi, non, regola, regole, obiettivo, ricorda, ricordati, tranne, nessun, nessuna, invece, al posto di`,
  `altijd, nooit, moet, moeten, mag, niet, geen, alleen, uitsluitend, vermijd, vermijden, verboden, verplicht, vanaf nu, voortaan, regels, doel`,
  `alltid, aldrig, aldri, altid, måste, skal, må, inte, ikke, ingen, inga, endast, bara, bare, enbart, kun, undvik, undgå, unngå, förbjudet`,
  `forbudt, från och med nu, hädanefter, fra nu af, fra nå av, mål, husk, aina, ei, älä, älkää, koskaan, täytyy, pitää, vain, ainoastaan`,
  `vältä, kielletty, tästä lähtien, sääntö, tavoite, muista, zawsze, nigdy, musi, musisz, nie, tylko, wyłącznie, unikaj, zabronione, od teraz`,
  `odtąd, zasada, pamiętaj, vždy, nikdy, musí, musíš, nesmí, pouze, jen, jenom, zakázáno, od teď, pravidlo, cíl, pamatuj`,
  `всегда, никогда, должен, должна, должно, должны, не, нельзя, только, исключительно, запрещено, обязательно, избегай, избегайте, отныне`,
  `впредь, с этого момента, правило, правила, цель, помни, помните, вместо, завжди, ніколи, повинен, повинна, повинні, тільки, лише, заборонено`,
  `уникай, віднині, мета, her zaman, asla, daima, sadece, yalnızca, mutlaka, gerekir, zorunlu, yasak, kaçın, bundan sonra, kural, hedef, unutma`,
  `πάντα, πάντοτε, ποτέ, πρέπει, μόνο, μην, απαγορεύεται, από εδώ και πέρα, κανόνας, στόχος`,
  `دائما, دائمًا, أبدا, أبدًا, يجب, لا, فقط, ممنوع, تجنب, من الآن فصاعدا, قاعدة, هدف, همیشه, هرگز, باید, نباید, תמיד, לעולם, אסור, חייב, חובה, רק, אל, מעכשיו`,
  `हमेशा, कभी, नहीं, मत, केवल, सिर्फ, चाहिए, ज़रूरी, अनिवार्य, अब से, नियम, लक्ष्य`,
  `luôn, không bao giờ, phải, chỉ, đừng, không được, cấm, tránh, từ bây giờ, từ nay, quy tắc, mục tiêu, selalu, jangan, harus, hanya, dilarang`,
  `wajib, hindari, mulai sekarang, aturan, tujuan, tidak boleh`,
];

/** In scripts without spaces a word may stand anywhere. */
const unspaced = [
  '始终|始終|总是|總是|一律|必须|必須|务必|務必|不要|不得|不能|不可|禁止|切勿|请勿|請勿|只能|只用|只可|仅|僅|从现在|從現在|今后|今後|以后|以後|永远|永遠',
  '不许|不許|一定|应该|應該|应当|記住|记住|避免|规则|規則|目标|目標|改为|都用|都要',
  '必ず|常に|絶対|いつも|いけない|いけません|しないで|なければ|べき|のみ|だけ|決して|これから|ルール|使わ|ください|覚えて|ではなく|代わりに',
  '항상|절대|반드시|지\\s?마|금지|앞으로|언제나|해야|말고|대신|규칙|목표|만\\s?사용|하세요|주세요',
  'ต้อง|ห้าม|เสมอ|อย่า|เท่านั้น|กฎ|เป้าหมาย',
];

/** Words that say of themselves that a rule holds for good; texts that only describe something have few of them. */
const lasting = [
  `always, never, from now on, going forward, at all times, under no circumstances, without exception, no exceptions, until further notice`,
  `don't, dont, do not, you must, you shall, you may not, you should, make sure, remember, rule, whenever, each time, every time, new goal`,
  `immer, niemals, nie, ab jetzt, ab sofort, von nun an, künftig, stets, grundsätzlich, verboten, auf keinen fall, regel`,
  `toujours, jamais, dorénavant, désormais, à partir de maintenant, il faut, interdit, règle, siempre, nunca, jamás, a partir de ahora`,
  `de ahora en adelante, prohibido, hay que, regla, sempre, a partir de agora, proibido, regra, mai, d'ora in poi, da ora in poi, vietato, regola`,
  `altijd, nooit, vanaf nu, voortaan, verboden, alltid, aldrig, aldri, altid, hädanefter, från och med nu, förbjudet, forbudt, aina, koskaan`,
  `tästä lähtien, kielletty, zawsze, nigdy, od teraz, odtąd, zabronione, vždy, nikdy, od teď, zakázáno, всегда, никогда, нельзя, отныне`,
  `впредь, запрещено, правило, завжди, ніколи, віднині, заборонено, her zaman, asla, daima, bundan sonra, yasak, πάντα, πάντοτε, ποτέ`,
  `απαγορεύεται, دائما, دائمًا, أبدا, أبدًا, ممنوع, همیشه, هرگز, תמיד, לעולם, אסור, हमेशा, कभी, luôn, không bao giờ, từ nay, cấm, đừng`,
  `selalu, jangan, dilarang, mulai sekarang`,
];
const lastingUnspaced = [
  '始终|始終|总是|總是|一律|必须|必須|务必|務必|不要|不得|禁止|切勿|请勿|請勿|从现在|從現在|今后|今後|永远|永遠|绝不|絕不|规则|規則',
  '必ず|常に|絶対|いつも|しないで|決して|これから|ルール|항상|절대|반드시|금지|앞으로|언제나|규칙|ห้าม|เสมอ|อย่า',
];

const ruleWords = anyOf(spelled, unspaced);
const lastingWords = anyOf(lasting, lastingUnspaced);

function anyOf(lines: readonly string[], unspacedWords: readonly string[]): RegExp {
  const phrases = lines.flatMap((line) => line.split(', ')).map((phrase) => phrase.replaceAll("'", "['’]"));
  return new RegExp(
    `(?<![\\p{L}\\p{M}\\p{N}])(?:${phrases.join('|')})(?![\\p{L}\\p{M}\\p{N}])|${unspacedWords.join('|')}`,
    'iu',
  );
}

/** Whether a sentence sounds like a rule that is to hold from then on. */
export function soundsLikeRule(sentence: string): boolean {
  return ruleWords.test(sentence.normalize('NFC'));
}

/** Whether a sentence that sounds like a rule is plainly one that is to hold for good. */
export function soundsLasting(sentence: string): boolean {
  return lastingWords.test(sentence.normalize('NFC'));
}

const instructions =
  /(?:^|[.!?]\s+)(?:[-*•>\s]|\d+[.)])*(?:please,?\s+|and\s+|also,?\s+|but\s+|ok(?:ay)?[,.]?\s+)*(?:use|write|reply|respond|answer|keep|put|place|name|call|format|include|leave|stop|treat|assume|follow|stay|speak|talk|address|begin|start|end|finish|sign|prefix|suffix|indent|wrap|quote|cite|limit|cap|round|sort|store|save|refer|translate|mention|respect|stay|work|target|run|commit|ask|check|log|test|document|spell|capitali[sz]e|utilise|utilisez|réponds|répondez|écris|usa|escribe|responde|rispondi|scrivi|verwende|benutze|nutze|schreibe?|antworte|nenne)\b/iu;

/** Whether a sentence asks for something as a rule does; it may be meant for one task only. */
export function soundsLikeInstruction(sentence: string): boolean {
  return instructions.test(sentence.slice(0, 400));
}

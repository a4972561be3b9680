"""notes-merge(7), "Text" and "Fine-grained merge", once more."""

import re
from collections import Counter

LABEL = re.compile(rb"(.+) \xc2\xb7 (\d{4}-\d\d-\d\d \d\d:\d\d)", re.S)


class Block(tuple):
    """A conflict block as one line: equal when its sides' lines are."""

    def __new__(cls, sides):
        self = super().__new__(cls, tuple(lines for _, lines in sides))
        self.sides = sides
        return self


def cancel(positives, negatives):
    net = Counter(positives)
    net.subtract(Counter(negatives))
    return ([v for v in dict.fromkeys(positives) if net[v] > 0],
            [v for v in dict.fromkeys(negatives) if net[v] < 0])


# Matching.


def hunks(a, b):
    """Matching lines: the (a0, a1, b0, b1) that differ."""
    free_a, free_b = [True] * len(a), [True] * len(b)

    def pair(i, j):
        free_a[i] = free_b[j] = False

    parts, steps = [(0, len(a), 0, len(b))], 0
    while parts:
        a0, a1, b0, b1 = parts.pop()
        if a0 == a1 or b0 == b1:
            continue
        if steps > 2097152:
            pair_unique(a, a0, a1, b, b0, b1, pair)
            continue
        places = {}
        for i in range(a0, a1):
            places.setdefault(a[i], []).append(i)
        steps += a1 - a0
        lowest, longest, chosen, shares = 65, 1, None, False
        j = b0
        while j < b1:
            after, steps = j + 1, steps + 1
            found = places.get(b[j], [])
            shares = shares or bool(found)
            limit = -1
            for i in found if len(found) <= lowest else []:
                if i < limit:
                    continue
                i0, j0, i1, j1 = i, j, i + 1, j + 1
                while i0 > a0 and j0 > b0 and a[i0 - 1] == b[j0 - 1]:
                    i0, j0 = i0 - 1, j0 - 1
                while i1 < a1 and j1 < b1 and a[i1] == b[j1]:
                    i1, j1 = i1 + 1, j1 + 1
                rarity = min(len(places[line]) for line in a[i0:i1])
                steps += i1 - i0
                after = max(after, j1)
                if i1 - i0 > longest or rarity < lowest:
                    chosen, longest, lowest = (i0, i1, j0, j1), i1 - i0, rarity
                limit = i1
            j = after
        if lowest <= 64:
            i0, i1, j0, j1 = chosen
            for k in range(i1 - i0):
                pair(i0 + k, j0 + k)
            parts += [(i1, a1, j1, b1), (a0, i0, b0, j0)]
        elif shares:
            in_a, in_b = set(a[a0:a1]), set(b[b0:b1])
            at_a = [i for i in range(a0, a1) if a[i] in in_b]
            at_b = [j for j in range(b0, b1) if b[j] in in_a]
            pairs = shortest_edit([a[i] for i in at_a], [b[j] for j in at_b])
            if pairs is None:
                pair_unique(a, a0, a1, b, b0, b1, pair)
            else:
                for i, j in pairs:
                    pair(at_a[i], at_b[j])
    return slid(a, free_a, b, free_b)


def pair_unique(a, a0, a1, b, b0, b1, pair):
    while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
        pair(a0, b0)
        a0, b0 = a0 + 1, b0 + 1
    while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
        a1, b1 = a1 - 1, b1 - 1
        pair(a1, b1)
    count_a, count_b = Counter(a[a0:a1]), Counter(b[b0:b1])
    place = {b[j]: j for j in range(b0, b1)}
    piles, back = [], {}
    for i in range(a0, a1):
        if count_a[a[i]] != 1 or count_b[a[i]] != 1:
            continue
        low, high = 0, len(piles)
        while low < high:
            middle = (low + high) // 2
            if place[a[piles[middle]]] < place[a[i]]:
                low = middle + 1
            else:
                high = middle
        back[i] = piles[low - 1] if low else None
        piles[low:low + 1] = [i]
    i = piles[-1] if piles else None
    while i is not None:
        pair(i, place[a[i]])
        i = back[i]


def shortest_edit(a, b):
    """Matching tokens: the pairs, or None beyond 1024 edits."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    n, m = len(a) - start - end, len(b) - start - end
    x, y = a[start:start + n], b[start:start + m]
    reach, states = {1: 0}, []
    for d in range(1025):
        for k in range(-d, d + 1, 2):
            if k == -d or (k != d and reach[k - 1] + 1 < reach[k + 1]):
                i = reach[k + 1]
            else:
                i = reach[k - 1] + 1
            while i < n and 0 <= i - k < m and x[i] == y[i - k]:
                i += 1
            reach[k] = i
            if i >= n and i - k >= m:
                break
        else:
            states.append(dict(reach))
            continue
        break
    else:
        return None
    pairs, i, j = [], n, m
    for state, d in zip(reversed(states), range(len(states), 0, -1)):
        k = i - j
        inserts = k == -d or (k != d and state[k - 1] + 1 < state[k + 1])
        turn = state[k + 1] if inserts else state[k - 1] + 1
        while i > turn:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        i, j = (i, j - 1) if inserts else (i - 1, j)
    pairs += [(p, p) for p in range(i)]
    return ([(p, p) for p in range(start)] + [(start + i, start + j) for i, j in pairs]
            + [(start + n + p, start + m + p) for p in range(end)])


def slid(a, free_a, b, free_b):
    slide(a, free_a, free_b)
    slide(b, free_b, free_a)
    found, i, j = [], 0, 0
    while i < len(a) or j < len(b):
        i0, j0 = i, j
        while i < len(a) and free_a[i]:
            i += 1
        while j < len(b) and free_b[j]:
            j += 1
        if i > i0 or j > j0:
            found.append((i0, i, j0, j))
        i, j = i + 1, j + 1
    return found


def slide(lines, free, other):
    # Between paired lines number g - 1 and g, the other text has unpaired lines or not.
    faces, run = [], False
    for is_free in other:
        if is_free:
            run = True
        else:
            faces.append(run)
            run = False
    faces.append(run)

    def move(start, end, step):
        """The run at [start, end) moved by one line, or None."""
        if step < 0:
            if start == 0 or lines[start - 1] != lines[end - 1]:
                return None
            free[start - 1], free[end - 1] = True, False
            start, end = start - 1, end - 1
        else:
            if end == len(lines) or lines[start] != lines[end]:
                return None
            free[start], free[end] = False, True
            start, end = start + 1, end + 1
        while start > 0 and free[start - 1]:
            start -= 1
        while end < len(lines) and free[end]:
            end += 1
        return start, end

    def gap(start):
        return free[:start].count(False)

    position = 0
    while position < len(lines):
        if not free[position]:
            position += 1
            continue
        start, end = position, position
        while end < len(lines) and free[end]:
            end += 1
        while True:
            size = end - start
            while (moved := move(start, end, -1)):
                start, end = moved
            highest, facing = end, faces[gap(start)]
            while (moved := move(start, end, 1)):
                start, end = moved
                facing = facing or faces[gap(start)]
            if end - start == size:
                break
        if end != highest and facing:
            while not faces[gap(start)]:
                start, end = move(start, end, -1)
        position = end


# Lines.


def is_blank(line):
    return not line.strip(b" \t\r")


def is_letter(byte):
    return byte >= 0x80 or 65 <= byte <= 90 or 97 <= byte <= 122


def has_letters(line):
    return isinstance(line, bytes) and sum(map(is_letter, line)) >= 3


def characters(line):
    return sum(byte & 0xC0 != 0x80 for byte in line)


def open_fence(lines):
    found = 0
    for before, line in zip((None,) + tuple(lines), lines):
        is_underline = (before is not None and line and not line.strip(b"~")
                        and len(line) == characters(before))
        found += line.lstrip(b" \t").startswith((b"```", b"~~~")) and not is_underline
    return found % 2 == 1


def letters_and_digits(line):
    return bytes(byte for byte in line if is_letter(byte) or 48 <= byte <= 57)


def distance(a, b, limit):
    """The fewest insertions and deletions that lead from a to b, or None beyond the limit."""
    reach = {1: 0}
    for d in range(limit + 1):
        for k in range(-d, d + 1, 2):
            if k == -d or (k != d and reach[k - 1] < reach[k + 1]):
                i = reach[k + 1]
            else:
                i = reach[k - 1] + 1
            while i < len(a) and i - k < len(b) and a[i] == b[i - k]:
                i += 1
            reach[k] = i
            if i >= len(a) and i - k >= len(b):
                return d
    return None


def are_alike(a, b, limit):
    """Whether sizes and bytes leave it open that the distance is within the limit."""
    letters = Counter(byte & 127 for byte in a)
    letters.subtract(Counter(byte & 127 for byte in b))
    return abs(len(a) - len(b)) <= limit and sum(map(abs, letters.values())) <= limit


class TooCostly(Exception):
    pass


class Cost:
    def __init__(self):
        self.cost = 0

    def add(self, cost):
        self.cost += cost
        if self.cost > 1 << 27:
            raise TooCostly


def similarity(a, b, cost):
    """The distance of two lines that are similar by it, or None."""
    if max(len(a), len(b)) > 4096:
        return None
    total = len(a) + len(b)
    limit = (total - 1) // 5
    numbers = [set(re.findall(rb"[0-9]+", line.partition(b"://")[2])) for line in (a, b)]
    if not are_alike(a, b, limit) or all(numbers) and not numbers[0] & numbers[1]:
        return None
    cost.add(limit * total)
    return distance(a, b, limit)


def is_usual(a, b, d, around, cost):
    """Whether a line around is as near to one of two similar lines as they are to each other."""
    for line in around:
        if line in (a, b) or len(line) > 4096:
            continue
        for side in (a, b):
            cost.add(32)
            if are_alike(side, line, d):
                cost.add(d * (len(side) + len(line)))
                if distance(side, line, d) is not None:
                    return True
    return False


def with_letters(lines):
    return [line for line in dict.fromkeys(lines) if has_letters(line)]


def has_similar(older, newer, around=()):
    older, newer, around = with_letters(older), with_letters(newer), with_letters(around)
    if {letters_and_digits(line) for line in older} & {letters_and_digits(line) for line in newer}:
        return True
    cost = Cost()
    try:
        cost.add(32 * len(older) * len(newer))
        for a in older:
            for b in newer:
                d = similarity(a, b, cost)
                if d is not None and not is_usual(a, b, d, around, cost):
                    return True
    except TooCostly:
        return True
    return False


def edited(lines, gone):
    """Those of the lines that are similar to one that is gone, or None if that costs too much."""
    lines, gone = with_letters(lines), with_letters(gone)
    known = {letters_and_digits(line) for line in gone}
    cost, found = Cost(), set()
    try:
        cost.add(32 * len(lines) * len(gone))
        for a in lines:
            if letters_and_digits(a) in known or any(
                    similarity(a, b, cost) is not None for b in gone):
                found.add(a)
    except TooCostly:
        return None
    return found


def contains(outer, inner):
    return any(outer[i:i + len(inner)] == inner for i in range(len(outer) - len(inner) + 1))


# Fine-grained merge.


def join_all(sides, before, after):
    joined = sides[0]
    for side in sides[1:]:
        joined = join(joined, side, before, after)
        if joined is None:
            return None
    return joined


def join(older, newer, before, after):
    if contains(older, newer):
        return older
    if contains(newer, older):
        return newer
    start, short = 0, min(len(older), len(newer))
    while start < short and older[start] == newer[start]:
        start += 1
    while start and is_blank(older[start - 1]):
        start -= 1
    end = 0
    while end < short - start and older[-1 - end] == newer[-1 - end]:
        end += 1
    while end and is_blank(older[-end]):
        end -= 1
    around = before[-100:] + after[:100] if start == 0 else ()
    is_list = len({mark(line) for line in older + newer if not is_blank(line)}) == 1
    if not is_list and any(not is_blank(l) and l in around for l in older[len(older) - end:]):
        end = 0
    rest = older[start:len(older) - end], newer[start:len(newer) - end]
    own = rest if is_list else [[line for line in side if line not in around] for side in rest]
    if any(map(open_fence, rest)) or any(l in own[0] and has_letters(l) for l in own[1]) \
            or has_similar(*own, around):
        return None
    middle = ordered(*rest, before, after) if start == end == 0 else None
    if middle is None:
        middle = rest[1] + rest[0] if continues(rest[1], rest[0]) else rest[0] + rest[1]
    return older[:start] + middle + older[len(older) - end:]


def continues(items, other):
    """Whether the lines are items of a list that the other ones begin with and leave."""
    def are_items(lines):
        return len({mark(line) for line in lines}) == 1 and not any(map(is_blank, lines))

    return bool(items and other) and are_items(items + other[:1]) and not are_items(other)


def is_word(byte):
    return is_letter(byte) or 48 <= byte <= 57


def mark(line):
    for position, byte in enumerate(line):
        if is_word(byte):
            return line[:position]
    return line


def key(line):
    words = "".join(chr(b) if is_word(b) else " " for b in line).split(" ")
    return " ".join(w for w in words if w).encode("latin-1").lower()


def ordered(older, newer, before, after):
    first = [next((l for l in lines if not is_blank(l)), None) for lines in (older, newer)]
    if None in first or mark(first[0]) != mark(first[1]):
        return None
    shared = mark(first[0])
    is_list = all(mark(line) == shared and not is_blank(line) for line in older + newer)
    keys = [[key(line) for line in (lines if is_list else [top])]
            for lines, top in ((older, first[0]), (newer, first[1]))]

    def near(lines):
        alike = []
        for line in lines[:100]:
            if isinstance(line, bytes) and mark(line) == shared:
                alike.append(key(line))
            elif is_list:
                break
        return alike[:2]

    above, below = near(before[::-1])[::-1], near(after)
    if len(above) + len(below) < 2:
        return None
    if any(above + k + below != sorted(above + k + below) for k in keys):
        return None
    if not is_list:
        return newer + older if keys[1][0] < keys[0][0] else older + newer
    both = [(k, 0, l) for k, l in zip(keys[0], older)] + [(k, 1, l) for k, l in zip(keys[1], newer)]
    return tuple(line for _, _, line in sorted(both, key=lambda item: item[:2]))


def combine(base, older, newer, older_hunks, newer_hunks, gap, meet):
    """The base with the edits of both, or None."""
    edits = {1: [((h[0], h[1]), older[h[2]:h[3]]) for h in older_hunks],
             2: [((h[0], h[1]), newer[h[2]:h[3]]) for h in newer_hunks]}
    result, position, previous = [], 0, None
    while edits[1] or edits[2]:
        x, y = (edits[side][0] if edits[side] else None for side in (1, 2))
        who = None
        if x and y and x == y:
            edit, who = x, 3
        elif x and y and x[0] == y[0]:
            text = meet(x[0], x[1], y[1])
            if text is not None:
                edit, who = (x[0], text), 3
        if who is None:
            edit, who = (x, 1) if not y or (x and x[0] < y[0]) else (y, 2)
        for side in (1, 2):
            if who & side:
                edits[side].pop(0)
        (start, end), text = edit
        if previous and (who != previous[0] or who == 3):
            same_place = start == end and previous[1] == previous[2] == start
            if start - previous[2] < gap or same_place:
                return None
        result += base[position:start]
        result += text
        position, previous = end, (who, start, end)
    return tuple(result) + tuple(base[position:])


PUNCTUATION = rb"\xe2\x80.|\xe2\x81[\x80-\xaf]|\xe3\x80.|\xef\xbc[\x81-\x8f]"
MARK = re.compile(PUNCTUATION, re.S)


def words(text):
    tokens, i = [], 0

    def punctuation(i):
        if text[i] < 0x80:
            return 0 if is_word(text[i]) or text[i] == 95 else 1
        return 3 if MARK.match(text, i) else 0

    while i < len(text):
        start = i
        if text[i] == 10:
            i += 1
        elif text[i] in b" \t":
            while i < len(text) and text[i] in b" \t":
                i += 1
        elif punctuation(i):
            i += punctuation(i)
        else:
            while i < len(text) and text[i] not in b" \t\n" and not punctuation(i):
                i += 1
        tokens.append(text[start:i])
    return tokens


SENTENCE = re.compile(rb"""\n|[ \t]+|[^\n]*?[.!?][!?."')\]*_]*(?=[ \t\n]|\Z)|[^\n]+""")


def sentences(text):
    return SENTENCE.findall(text)


def smaller_parts(base, older, newer, before, after):
    if any(len(t) > 2000 or sum(len(line) + 1 for line in t) > 1 << 20 for t in (base, older, newer)):
        return None

    def meet_lines(place, x, y):
        if place[0] != place[1]:
            return None
        return join(x, y, before + base[:place[0]], base[place[1]:] + after)

    merged = combine(base, older, newer, hunks(base, older), hunks(base, newer), 0, meet_lines)
    if merged is not None and passes(base, older, newer, merged):
        return merged, "lines"
    for cut, gap, name in ((sentences, 1, "sentences"), (words, 2, "words")):
        if name == "words" and (open_fence(older) or open_fence(newer)):
            return None
        cuts = [tuple(cut(b"".join(line + b"\n" for line in t))) for t in (base, older, newer)]
        edits = []
        for side in cuts[1:]:
            pairs = shortest_edit(cuts[0], side)
            if pairs is None:
                break
            free = [True] * len(cuts[0]), [True] * len(side)
            for i, j in pairs:
                free[0][i] = free[1][j] = False
            edits.append(slid(cuts[0], free[0], side, free[1]))
        if len(edits) < 2:
            continue
        def meet_tokens(place, x, y):
            if not x or not y:
                return None
            if contains(x, y) or contains(y, x):
                return x if contains(x, y) else y
            return enumerated(cuts[0], place, x, y) if name == "words" else None

        tokens = combine(*cuts, *edits, gap, meet_tokens)
        if tokens is None:
            continue
        text = b"".join(tokens)
        merged = tuple(text.split(b"\n")[:-1] if text.endswith(b"\n") else text.split(b"\n"))
        if text == b"":
            merged = ()
        if passes(base, older, newer, merged):
            return merged, name
    texts = [b" ".join(t).split(b" ") for t in (base, older, newer)]
    all_words = [[w for t in text for w in t.split(b"\t") if w] for text in texts]
    for side, other, found in ((older, newer, all_words[1]), (newer, older, all_words[2])):
        if older and newer and found == all_words[0] and not any(
                is_blank(line) or line[:1] in b" \t" for line in base + side) \
                and passes(base, older, newer, other):
            return other, "words"
    return None


SEPARATORS = (b",", b";", b"\xe3\x80\x81", b"\xef\xbc\x8c")


def enumerated(base, place, x, y):
    """Both of two insertions in an enumeration, or None."""
    if place[0] != place[1] or b"\n" in x + y:
        return None
    start = end = place[0]
    while start > 0 and base[start - 1] != b"\n":
        start -= 1
    while end < len(base) and base[end] != b"\n":
        end += 1

    def last(tokens):
        is_space = not tokens[-1].strip(b" \t") and len(tokens) > 1
        return tokens[-2] if is_space else tokens[-1]

    shared = {x[0]} & {y[0]} | {last(x)} & {last(y)}
    if not any(base[start:end].count(mark) >= 2 for mark in shared if mark in SEPARATORS):
        return None
    return None if has_similar([b"".join(x)], [b"".join(y)]) else x + y


def passes(base, older, newer, merged):
    counts = Counter(merged)
    for line, count in counts.items():
        most = max(older.count(line), newer.count(line))
        if has_letters(line) and most and count > most:
            return False
        here = older.count(line), newer.count(line)
        if has_letters(line) and min(here) == 0 < base.count(line) >= max(here):
            return False
    added = [[l for l in side if l not in base and l in counts and l not in other]
             for side, other in ((older, newer), (newer, older))]
    if not has_similar(*added):
        return True
    if not all(line in older or line in newer for line in merged):
        return False
    sides = []
    for lines, side, other in ((added[0], older, newer), (added[1], newer, older)):
        own = edited(lines, [line for line in base if line in other and line not in side])
        if own is None:
            return False
        sides.append([line for line in lines if line not in own])
    return not has_similar(*sides)


# Markers.


def marker(line, size):
    """(kind, label) of a line that is a marker of that size, ("?", None) if malformed, or None."""
    line = line[:-1] if line.endswith(b"\r") else line
    if not line or line[:1] not in b"<=>":
        return None
    run = len(line) - len(line.lstrip(line[:1]))
    rest = line[run:]
    if run != size or (rest and not rest.startswith(b" ")):
        return None
    label = rest[1:] if LABEL.fullmatch(rest[1:]) else None
    kind = line[:1].decode()
    if label is None and (rest or kind != "="):
        return ("?", None)
    return (kind, label)


def parse(lines, size):
    """The lines with each block as a Block."""
    units, index = [], 0
    while index < len(lines):
        block = parse_block(lines, index, size)
        if block:
            units.append(block[0])
            index = block[1]
        else:
            units.append(lines[index])
            index += 1
    return units


def parse_block(lines, first, size):
    top = marker(lines[first], size)
    if not top or top[0] != "<":
        return None
    sides, label, current, is_last = [], top[1], [], False
    for index in range(first + 1, len(lines)):
        found = marker(lines[index], size)
        if not found:
            current.append(lines[index])
        elif found[0] == "=" and not is_last:
            sides.append((label, tuple(current)))
            label, current, is_last = found[1], [], found[1] is None
        elif found[0] == ">" and is_last:
            return Block(sides + [(found[1], tuple(current))]), index + 1
        else:
            return None
    return None


def marker_run(line):
    match = re.match(rb"(<+|=+|>+)(?= |\r?\Z)", line)
    return (line[:1], len(match[0])) if match else (b"", 0)


# Texts.

Term = tuple  # (text, marker size or None, label)


def endings(text):
    crlf = text.count(b"\r\n")
    lf = text.count(b"\n") - crlf
    style = "mixed" if crlf and lf else "crlf" if crlf else "lf" if lf else None
    return style, text.endswith(b"\n") if text else None


def merge_texts(positives, negatives, fine=True):
    """(text, marker size or None, names of rules) for terms (text, marker size, label) or None."""
    has_base = any(negatives)
    negatives = [n or (b"", None, b"") for n in negatives] if has_base else []
    forms = [endings(t[0]) for t in positives], [endings(t[0]) for t in negatives]
    mixed = any(style == "mixed" for side in forms for style, _ in side)

    def choose(position):
        left = cancel([f[position] for f in forms[0]], [f[position] for f in forms[1]])[0]
        left = [value for value in left if value is not None]
        return left[0] if len(left) == 1 else None

    style = choose(0)
    if style is None:
        styles = {style for style, _ in forms[0]}
        style = "crlf" if "crlf" in styles and "lf" not in styles else "lf"
    final = choose(1)

    known = {}  # equal blocks are one, with the labels of the first

    def units(term):
        text = term[0] if mixed else term[0].replace(b"\r\n", b"\n")
        lines = text.split(b"\n")
        lines = lines[:-1] if lines[-1] == b"" else lines
        lines = parse(lines, term[1]) if term[1] else lines
        return tuple(known.setdefault(l, l) if isinstance(l, Block) else l for l in lines)

    above, below = [units(t) for t in positives], [units(t) for t in negatives]
    reference = below[0] if below else above[0]
    terms = above + below
    edits = [hunks(reference, t) for t in terms]
    spans = []
    for start, end in sorted({(h[0], h[1]) for e in edits for h in e}):
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])

    def shift(before):
        last = (0, 0, 0, 0)
        for last in before:
            pass
        return last[3] - last[1]

    output, rules, position = [], set(), 0
    for start, end in spans:
        output += reference[position:start]
        values = []
        for term, edit in zip(terms, edits):
            first = start + shift(h for h in edit if h[1] < start)
            last = end + shift(h for h in edit if h[0] <= end)
            values.append(term[first:last])
        position = end
        output += region(values[:len(above)], values[len(above):], [t[2] for t in positives],
                         reference[:start][-100:], reference[end:][:100], has_base, fine, rules)
    output += reference[position:]
    return render(output, None if mixed else style, final, rules)


def region(positives, negatives, labels, before, after, has_base, fine, rules):
    left, bases = cancel(positives, negatives)
    if len(left) == 1:
        return list(left[0])
    plain = not any(isinstance(line, Block) for value in left + bases for line in value)
    if fine and has_base and plain and len(bases) == 1:
        if not bases[0]:
            found = join_all(left, before, after), "joined"
            found = found if found[0] is not None else None
        else:
            found = smaller_parts(bases[0], *left, before, after) if len(left) == 2 else None
        if found:
            rules.add(found[1])
            return list(found[0])
    expanded = [expand(value, labels[positives.index(value)]) for value in left]
    net = Counter()
    for values, sign in ((positives, 1), (negatives, -1)):
        for value in values:
            for lines in {lines for _, lines in expand(value, b"")}:
                net[lines] += sign
    sides = []
    for value in expanded:
        for label, lines in value:
            dropped = len(value) > 1 and net[lines] <= 0
            if not dropped and lines not in [l for _, l in sides]:
                sides.append((label, lines))
    if len(sides) == 1:
        return list(sides[0][1])
    first, short = sides[0][1], min(len(lines) for _, lines in sides)
    start = 0
    while start < short and all(l[start] == first[start] for _, l in sides):
        start += 1
    end = 0
    while end < short - start and all(l[-1 - end] == first[-1 - end] for _, l in sides):
        end += 1
    cut = [(label, lines[start:len(lines) - end]) for label, lines in sides]
    return list(first[:start]) + [Block(cut)] + list(first[len(first) - end:])


def expand(value, label):
    blocks = [line for line in value if isinstance(line, Block)]
    if not blocks:
        return [(label, tuple(value))]
    sides = []
    for i in range(max(len(b.sides) for b in blocks)):
        lines = []
        for line in value:
            lines += line.sides[min(i, len(line.sides) - 1)][1] if isinstance(line, Block) else [line]
        sides.append((next(b.sides[i][0] for b in blocks if len(b.sides) > i), tuple(lines)))
    return sides


def render(output, style, final, rules):
    size = 6
    for line in output:
        if isinstance(line, Block):
            size = max([size] + [marker_run(l)[1] for _, lines in line.sides for l in lines])
        else:
            mark, run = marker_run(line)
            size = max(size, run if mark != b"=" else 0)
    size += 1
    text = []
    for line in output:
        if not isinstance(line, Block):
            text.append(line)
            continue
        for index, (label, lines) in enumerate(line.sides):
            is_last = index == len(line.sides) - 1
            if index == 0:
                text.append(b"<" * size + b" " + label)
            else:
                text.append(b"=" * size + (b"" if is_last else b" " + label))
            text += lines
            if is_last:
                text.append(b">" * size + b" " + label)
    blocks = any(isinstance(line, Block) for line in output)
    result = b"".join(line + b"\n" for line in text)
    if final is False and not (output and isinstance(output[-1], Block)):
        result = result[:-1]
    if style == "crlf":
        result = result.replace(b"\n", b"\r\n")
    order = [name for name in ("joined", "lines", "sentences", "words") if name in rules]
    return result, size if blocks else None, order

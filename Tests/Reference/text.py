"""notes-merge(7), "Text" and "Fine-grained merge", once more."""

import re
from collections import Counter
from itertools import chain

# Rules and guards by name: left out, and met since the set was emptied (bench/merge-cases).
left_out, met = set(), set()


def applies(rule, condition):
    """Whether the condition of a rule holds and the rule is not left out."""
    if not condition or rule in left_out:
        return False
    met.add(rule)
    return True


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


def is_word(byte):
    return is_letter(byte) or 48 <= byte <= 57


def is_fence(line):
    return isinstance(line, bytes) and line.lstrip(b" \t").startswith((b"```", b"~~~"))


def is_blank_line(line):
    return isinstance(line, bytes) and is_blank(line)


def is_bare(line):
    return is_blank(line) or is_fence(line)


def says_something(line):
    return isinstance(line, bytes) and any(map(is_word, line))


def has_letters(line):
    return isinstance(line, bytes) and not is_fence(line) and sum(map(is_letter, line)) >= 3


def open_fence(lines):
    return sum(map(is_fence, lines)) % 2 == 1


def letters_and_digits(line):
    return bytes(filter(is_word, line))


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
    if not are_alike(a, b, limit):
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
                if applies("joined: usual likeness", distance(side, line, d) is not None):
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


DEFINITION = re.compile(rb"\[[^\]]+\]:|[ \t]*[-*+] \[[^\]]+\]\(")
KEY = re.compile(rb"[^ \t:=]+[ \t]*[:=]")
PROPERTY = re.compile(rb"[ \t]*:[^ \t:]+:")


def names(lines, before):
    """What the lines define: link definitions, items of links, keys at the note's top, and properties."""
    patterns = [DEFINITION]
    if len(before) < 100 and (all(isinstance(line, bytes) and KEY.match(line) for line in before)
                              or before[0] in FENCES and not set(FENCES[before[0]]) & set(before[1:])):
        patterns.append(KEY)
    ends = [line.strip(b" \t\r") for line in before[-100:] if isinstance(line, bytes)]
    if [line for line in ends if line in (b":PROPERTIES:", b":END:")][-1:] == [b":PROPERTIES:"]:
        patterns.append(PROPERTY)
    return {found[0] for line in lines for pattern in patterns if (found := pattern.match(line))}


def paragraphs(lines):
    """Runs of two lines or more that are not blank, each as one line."""
    found, run = [], []
    for line in (*lines, b""):
        if not is_blank(line):
            run.append(line.strip(b" \t\r"))
            continue
        if len(run) > 1:
            found.append(b" ".join(run))
        run = []
    return tuple(found)


def texts_of(lines):
    lines = tuple(line for line in lines if isinstance(line, bytes))
    return lines + paragraphs(lines)


def contains(outer, inner):
    return any(outer[i:i + len(inner)] == inner for i in range(len(outer) - len(inner) + 1))


# Fine-grained merge.


def fine_grained(base, older, newer, before, after):
    """(lines, rules), with blocks of both sides where only parts are settled; or None."""
    are_small = all(map(is_small, (base, older, newer)))
    if are_small and applies("white space of both sides", is_wrapped(older, newer)):
        return newer, {"words"}
    if not before:
        both = front_matter(older), front_matter(newer)
        if all(both) and not front_matter(base) and applies("front matter", True):
            return join_front_matter(base, *((side[:end], side[end:]) for side, end in zip((older, newer), both)), after)
    if are_small:
        found = numbered(base, older, newer, before, after)
        if found is not None:
            return found or None
    if not base:
        lines = join(older, newer, before, after)
        return None if lines is None else (lines, {"joined"})
    if not are_small:
        return None
    both = hunks(base, older), hunks(base, newer)
    if applies("guard: lost places", loses_place(base, older, newer, *both)
               or loses_place(base, newer, older, *reversed(both))):
        return None
    found = by_parts(base, older, newer, both, before, after)
    if found and not any(isinstance(line, Block) for line in found[0]):
        return found
    for merged in by_words(base, older, newer):
        if passes(base, older, newer, merged, before):
            return merged, {"words"}
    if applies("joined: blank base", all(map(is_blank, base))):
        lines = join(older, newer, before, after)
        if lines is not None:
            return lines, {"joined"}
    return found


INK = re.compile(rb"[^ \t\r\n]+")


def without_space(lines):
    return b"".join(INK.findall(b"\n".join(lines)))


def is_wrapped(a, b):
    """Whether two texts have the same words, indentation and paragraphs, in lines wrapped otherwise."""
    if without_space(a) != without_space(b):
        return False
    gaps = []
    for lines in (a, b):
        text, found, end, ink = b"\n".join((*lines, b"")), {}, 0, 0
        for match in INK.finditer(text):
            found[ink] = text[end:match.start()]
            ink, end = ink + len(match[0]), match.end()
        found[ink] = text[end:]
        gaps.append(found)
    ink = without_space(a)
    for place in gaps[0].keys() | gaps[1].keys():
        x, y = (found.get(place, b"") for found in gaps)
        if x == y:
            continue
        if b"\n" in x and b"\n" in y or place == 0:
            if break_of(x, place == len(ink)) != break_of(y, place == len(ink)):
                return False
        elif x.count(b"\n") > 1 or y.count(b"\n") > 1:
            return False
        elif b"" in (x, y) and place < len(ink) and is_word(ink[place - 1]) and is_word(ink[place]):
            return False
    return True


def break_of(space, is_last):
    """What is more than a wrapped line in white space: a hard break, blank lines, indentation."""
    lines = space.replace(b"\r", b"").split(b"\n")
    return len(lines) == 2 and len(lines[0]) > 1, len(lines), b"" if is_last else lines[-1]


def join(older, newer, before, after):
    if applies("joined: one in the other", contains(older, newer) or contains(newer, older)):
        return older if contains(older, newer) else newer
    start, short = 0, min(len(older), len(newer))
    while start < short and older[start] == newer[start]:
        start += 1
    while start and is_bare(older[start - 1]):
        start -= 1
    end = 0
    while end < short - start and older[-1 - end] == newer[-1 - end]:
        end += 1
    while end and is_bare(older[-end]):
        end -= 1
    around = before[-100:] + after[:100] if start == 0 else ()
    if start + end and not are_items(older[start:len(older) - end], newer[start:len(newer) - end]):
        start = end = 0
    is_list = len({mark(line) for line in older + newer if not is_blank(line)}) == 1
    if not is_list and applies("joined: usual last lines", any(
            not is_blank(l) and l in around for l in older[len(older) - end:])):
        end = 0
    rest = older[start:len(older) - end], newer[start:len(newer) - end]
    deep = {len(line) - len(line.lstrip(b" \t")) for line in map(first_line, rest) if line}
    if applies("joined: indentation", len(deep) > 1):
        return None
    own = rest
    if not is_list and applies("joined: usual lines", any(line in around for line in sum(rest, ()))):
        own = [[line for line in side if line not in around] for side in rest]
    if applies("joined: code fences", any(map(open_fence, rest))) \
            or applies("joined: shared lines", any(
                line in own[0] and says_something(line) and not is_fence(line) for line in own[1])) \
            or applies("joined: names", names(own[0], before + older[:start]) & names(own[1], before + older[:start])) \
            or applies("joined: similar lines", has_similar(*map(texts_of, own), texts_of(around))):
        return None
    middle = ordered(*rest, before, after) if start == end == 0 else None
    if not middle:
        first = 0 if before else 1 if front_matter(older) else 2 if front_matter(newer) else 0
        orders = [rest] * (first != 2) + [rest[::-1]] * (first != 1)
        fitting = [pair for pair in orders if not applies("joined: sections", not may_follow(*pair))]
        if not fitting:
            return None
        middle = behind_each_other(*fitting[0], start > 0)
    return older[:start] + middle + older[len(older) - end:]


HEADING = re.compile(rb"(#{1,6}|\*{2,})[ \t]")


def level(line):
    """The level of a heading; 100 of any other line."""
    found = HEADING.match(line) if isinstance(line, bytes) else None
    return len(found[1]) if found else 100


def may_follow(first, second):
    """Whether what comes second does not get under a heading that is not its own."""
    highest, is_code = 100, False
    for line in first:
        is_code ^= is_fence(line)
        highest = min(highest, 100 if is_code else level(line))
    return level(first_line(second)) <= highest


def behind_each_other(older, newer, is_below_heading):
    """Both, with no more blank lines between them than one has there."""
    first, last = blanks_before(newer), len(older) - blanks_before(older[::-1])
    between = max(newer[:first], older[last:], key=len)
    if is_below_heading and applies("joined: items", ITEM.match(first_line(newer)) and all(
            item(line) == item(first_line(newer)) for line in older[blanks_before(older):last])):
        between = ()
    return older[:last] + between + newer[first:]


def blanks_before(lines):
    return next((i for i, line in enumerate(lines) if not is_blank(line)), len(lines))


FENCES = {b"---": (b"---", b"..."), b"+++": (b"+++",)}


def front_matter(lines):
    """Where the lines go on behind the front matter that they begin with, or 0."""
    ends = FENCES.get(lines[0], ()) if lines else ()
    return next((i + 1 for i, line in enumerate(lines) if i and line in ends), 0)


def join_front_matter(base, older, newer, after):
    """One front matter for both, and what is behind it; a block where they can't be joined."""
    (first, *inner, last), (other, *added, _) = older[0], newer[0]
    if first != other:
        return None
    keys = [{found[0]: line for line in lines if (found := KEY.match(line))} for lines in (inner, added)]
    shared = keys[0].keys() & keys[1].keys()
    # The lines below a key are its own: then a key that both have is a clash, whatever it says.
    if len(keys[0]) == len(inner) and len(keys[1]) == len(added):
        shared = {name for name in shared if keys[0][name] != keys[1][name]}
        both = [*inner, *(line for line in added if line not in inner)]
    else:
        both = inner + added
    if shared or any(line.startswith(b"[") for line in inner + added):
        both = [Block([(b"", tuple(inner)), (b"", tuple(added))])]
    found, rules = three_way(base, older[1], newer[1], (first, last), after)
    return (first, *both, last, *found), {"joined"} | rules


def three_way(base, older, newer, before, after):
    """What two sides come to, and the rules; a block where nothing else is."""
    if base in (older, newer) or older == newer:
        return newer if older == base else older, set()
    return fine_grained(base, older, newer, before, after) or ((Block([(b"", older), (b"", newer)]),), set())


NUMBER = re.compile(rb"([ \t]*)([1-9]\d{0,8})([.)][ \t]+)(?=[^ \t\r])")


def numbered(base, older, newer, before, after):
    """Items of a list that counts up in all three, merged without their numbers and numbered anew; False
    where the list goes on with another number, None if there is no such list."""
    first = next((found for line in older if (found := NUMBER.match(line))), None)
    if not first:
        return None

    def number(line):
        found = NUMBER.match(line) if isinstance(line, bytes) else None
        return int(found[2]) if found and found[1] == first[1] and found[3][:1] == first[3][:1] else 0

    start, counts = int(first[2]), []
    for lines in (base, older, newer):
        numbers = list(filter(None, map(number, lines)))
        if numbers != list(range(start, start + len(numbers))):
            return None
        counts.append(len(numbers))
    if len(set(counts)) == 1 or 0 in counts[1:]:
        return None
    above = next((line for line in before[::-1] if not isinstance(line, bytes) or not is_blank(line)
                  and indentation(line) <= len(first[1])), b"")
    if applies("numbered: other counts", number(above) not in (0, start - 1)):
        return None

    def bare(lines):
        return tuple(line.replace(b"%d" % number(line), b"\0", 1) if number(line) else line for line in lines)

    texts = [bare(lines) for lines in (base, older, newer)]
    shortest, top, end = min(map(len, texts)), 0, 0
    while top < shortest and len({lines[top] for lines in texts}) == 1:
        top += 1
    while end < shortest - top and len({lines[-1 - end] for lines in texts}) == 1:
        end += 1
    head, tail = texts[0][:top], texts[0][len(base) - end:]
    found = fine_grained(*(lines[top:len(lines) - end] for lines in texts), before + head, tail + after)
    if not found or any(isinstance(line, Block) for line in found[0]):
        return None
    result, count = [], start
    for line in head + found[0] + tail:
        if line.startswith(first[1] + b"\0" + first[3][:1]):
            line, count = line.replace(b"\0", b"%d" % count, 1), count + 1
        result.append(line)
    if not applies("numbered", True):
        return None
    goes_on = next((line for line in after if not is_blank_line(line)), b"")
    return number(goes_on) in (0, count) and (tuple(result), found[1])


def first_line(lines):
    return next((line for line in lines if not is_blank(line)), b"")


def are_items(older, newer):
    """Whether two texts between common lines begin as the same list does, or one says nothing."""
    first = [first_line(older), first_line(newer)]
    marks = [mark(line).strip(b" \t\r") for line in first]
    return not all(first) or not applies(
        "joined: common lines", item(first[0]) != item(first[1]) or not marks[0])


ITEM = re.compile(rb"[ \t]*[-*+] ")


def item(line):
    """The mark of a line, or of an item what makes it one."""
    found = ITEM.match(line)
    return found[0] if found else mark(line)


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
        pair = (newer, older) if keys[1][0] < keys[0][0] else (older, newer)
        if not may_follow(*pair):
            return None
        both = pair[0] + pair[1]
    else:
        both = [(k, 0, l) for k, l in zip(keys[0], older)] + [(k, 1, l) for k, l in zip(keys[1], newer)]
        both = tuple(line for _, _, line in sorted(both, key=lambda item: item[:2]))
    return both if both == older + newer or applies("joined: order", True) else None


# Smaller parts.


def loses_place(base, side, other, side_hunks, other_hunks):
    """Whether the other inserted lines beside more than three that the side made something else of, or
    children behind a parent that the side deleted."""
    places = {start for start, end, _, _ in other_hunks if start == end}
    depths = {start: indentation(first_line(other[b0:b1])) for start, end, b0, b1 in other_hunks if start == end}
    return any(b1 == b0 and any(indentation(line) < depths.get(a1, 0) for line in base[a0:a1] if not is_blank(line))
               for a0, a1, b0, b1 in side_hunks) or any(a1 - a0 > 3 and b1 > b0 and {a0, a1} & places and not has_similar(base[a0:a1], side[b0:b1])
               for a0, a1, b0, b1 in side_hunks)


def overlaps(edits, base):
    """The stretches that edits cover; those that overlap are one, those that touch are not, but for dates
    of org and what they are of."""
    spans = []
    for start, end in sorted({hunk[:2] for found in edits for hunk in found}):
        if spans and start < spans[-1][1] + (start < end and base[start].lstrip(b" \t").startswith(OF_LINE_ABOVE)):
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    return spans


def edited(base, side, found, start, end):
    """A stretch of the base as a side has it."""
    lines, position = (), start
    for a0, a1, b0, b1 in found:
        if (a0, a1) == (start, end) or a0 < end and a1 > start:
            lines += base[position:a0] + side[b0:b1]
            position = a1
    return lines + base[position:end]


def by_steps(positives, negatives, labels, before, after, fine):
    """The sum of texts with several bases, one after the other; None if a step has a block."""
    lines, rules = positives[0], {"lines"}
    for base, text in zip(negatives, positives[1:]):
        found, used = summed([lines, text], [base], labels[:2], before, after, fine)
        if any(isinstance(line, Block) for line in found):
            return None
        lines, rules = tuple(found), rules | set(used)
    count = Counter(line for line in lines if says_something(line))
    if any(0 < max(text.count(line) for text in positives) < n for line, n in count.items()):
        return None
    net = Counter(line for text in positives for line in text if says_something(line))
    net.subtract(line for text in negatives for line in text if says_something(line))
    if any(n > 0 and line not in lines for line, n in net.items()):
        return None
    return list(lines), rules


def by_parts(base, older, newer, both, before, after):
    """Each stretch of the base in which edits overlap by itself; None if there is but one."""
    spans = overlaps(both, base)
    if len(spans) < 2 or not applies("lines", True):
        return None
    lines, position, rules = (), 0, {"lines"}
    for start, end in spans:
        lines += base[position:start]
        position = end
        part, *sides = base[start:end], *(edited(base, side, found, start, end)
                                          for side, found in zip((older, newer), both))
        found, used = three_way(part, *sides, before + base[:start], base[end:] + after)
        lines, rules = lines + found, rules | used
    lines += base[position:]
    settled = tuple(line for line in lines if isinstance(line, bytes))
    return (lines, rules) if passes(base, older, newer, settled, before) else None


def by_words(base, older, newer):
    """What edits of words come to, and where one side changed white space alone, the other side."""
    cuts = [tuple(words(b"".join(line + b"\n" for line in t))) for t in (base, older, newer)]
    edits = []
    for side in cuts[1:]:
        pairs = shortest_edit(cuts[0], side)
        if pairs is None:
            break
        free = [True] * len(cuts[0]), [True] * len(side)
        for i, j in pairs:
            free[0][i] = free[1][j] = False
        edits.append(slid(cuts[0], free[0], side, free[1]))
    edits = [[((a0, a1), tuple(side[b0:b1])) for a0, a1, b0, b1 in found]
             for side, found in zip(cuts[1:], edits)]
    tokens = None
    if len(edits) == 2 and not applies("guard: lines made over", makes_over(cuts[0], *edits)):
        tokens = combine(cuts[0], *edits)
    if applies("words", tokens is not None):
        text = b"".join(tokens)
        lines = text.split(b"\n")
        yield tuple(lines if lines[-1] else lines[:-1])
    for side, other in ((older, newer), (newer, older)):
        if applies("white space of one side", is_wrapped(side, base)):
            yield other


def makes_over(base, older, newer):
    """Whether one side edits a line of which the other keeps less than half of the words; or the
    line's head, where the other's edits come between the head and the words; or both its numbers."""
    start = 0
    for end, line in line_ends(base):
        both = [[e for e in edits if e[0][0] < end and (e[0][1] > start or e[0] == (start, start))]
                for edits in (older, newer)]
        said = [i for i in range(start, line) if says_something(base[i])]
        words = said[1:] if said and is_sign(base[said[0]]) else said
        first = words[0] if words else line - 1
        for own, others in (both, both[::-1]):
            own, others = [[e for e in x if e not in y] for x, y in ((own, others), (others, own))]
            own = [e for e in own if not is_space(base, e)]
            edited = own + [e for e in others if not is_space(base, e)]
            if own and len(edited) > len(own) and all(is_number(base, e) for e in edited):
                return True
            if own and others:
                gone = sum(a <= i < b for (a, b), _ in others for i in words)
                if 2 * gone + (len(words) <= 10) > len(words):
                    return True
                if any(a <= first and b <= first + 1 for (a, b), _ in own) and any(
                        b"\n" in base[a:b] + text and not is_space(base, ((a, b), text))
                        for (a, b), text in others):
                    return True
        start = end
    return False


def is_sign(word):
    """Whether a line's first word is no word of what it says: a number, or in capital letters."""
    return all(48 <= byte < 58 or 65 <= byte <= 90 for byte in word)


OF_LINE_ABOVE = (b"SCHEDULED", b"DEADLINE", b"CLOSED")


def line_ends(base):
    """Where each line of tokens ends, with the dates of org that are below it, and the line by itself."""
    ends = [i + 1 for i, token in enumerate(base) if token == b"\n"]
    line = None
    for end, next_end in zip(ends, ends[1:] + [None]):
        line = line or end
        below = [token for token in base[end:next_end] if token.strip(b" \t")][:1] if next_end else []
        if not below or not below[0].startswith(OF_LINE_ABOVE):
            yield end, line
            line = None


def is_number(base, edit):
    said = b"".join((*base[slice(*edit[0])], *edit[1]))
    return any(48 <= byte < 58 for byte in said) and not any(map(is_letter, said))


def is_space(base, edit):
    (start, end), text = edit
    return not any(token.strip(b" \t\n") for token in (*base[start:end], *text))


def combine(base, older, newer):
    """The base with the edits of both, or None."""
    edits = {1: list(older), 2: list(newer)}
    result, position, previous = [], 0, None
    while edits[1] or edits[2]:
        x, y = (edits[side][0] if edits[side] else None for side in (1, 2))
        who, is_same = None, False
        if x and y and x[0] == y[0]:
            if x == y:
                edit, who, is_same = x, 3, True
            elif x[1] and y[1] and applies(
                    "words: one in the other", contains(x[1], y[1]) or contains(y[1], x[1])):
                edit, who = x if contains(x[1], y[1]) else y, 3
        if who is None:
            edit, who = (x, 1) if not y or (x and x[0] <= y[0]) else (y, 2)
        for side in (1, 2):
            if who & side:
                edits[side].pop(0)
        (start, end), text = edit
        is_blank_edit = is_space(base, edit)
        if previous and (who != previous[0] or who == 3):
            gap = start - previous[2]
            if gap == 0 and previous[1] == start == end:
                text = more_of_list(base, start, previous[5], text)
                if text is None or not applies("words: lists", True):
                    return None
                result += text
                previous = (3, start, end, False, False, text)
                continue
            if gap < 2 and not (gap >= 0 and (
                    (is_same or previous[3]) and applies("words: equal edits", True)
                    or (is_blank_edit or previous[4]) and applies("words: white space", True))):
                return None
        result += base[position:start]
        result += text
        position, previous = end, (who, start, end, is_same, is_blank_edit, text)
    return tuple(result) + tuple(base[position:])


def more_of_list(base, place, older, newer):
    """What the newer side's elements add to a list of short ones behind the older's; None if it is none."""
    if b"\n" in older + newer:
        return None
    line = base[:place]
    line = line[len(line) - line[::-1].index(b"\n"):] if b"\n" in line else line
    opened, depth = None, 0
    for i in range(len(line) - 1, -1, -1):
        depth += (line[i] == b"]") - (line[i] == b"[")
        if depth < 0 or line[i:i + 2] == (b":", b" "):
            opened = i
            break
    if opened is None:
        return None
    is_flow, line = line[opened] == b"[", line[opened + 1:]
    is_empty = is_flow and not any(map(says_something, line)) and base[place:place + 1] == (b"]",)
    for mark in (b",", b";"):
        if is_empty:
            added = (b",", b" ") + newer
        elif older[0] == newer[0] == mark:
            added = newer
        elif (older[-2:], newer[-2:]) == ((mark, b" "),) * 2:
            added = newer
        else:
            continue
        elements = [elements_of(tokens, mark) for tokens in (line, older, newer)]
        known = {tuple(map(bytes.lower, e)) for e in elements[1]}
        if not is_flow and len(elements[0]) < 2 or any(len(e) > 6 for found in elements for e in found) \
                or any(tuple(map(bytes.lower, e)) in known for e in elements[2]):
            return None
        return added
    return None


def elements_of(tokens, mark):
    """The words of each element of a list that has some."""
    found = [[]]
    for token in tokens:
        if token == mark:
            found.append([])
        elif says_something(token):
            found[-1].append(token)
    return [element for element in found if element]


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


def passes(base, older, newer, merged, before):
    """Whether a result says nothing twice."""
    for line, count in Counter(merged).items():
        most = max(older.count(line), newer.count(line))
        if applies("guard: lines repeated", (says_something(line) or is_fence(line)) and 0 < most < count):
            return False
    fences = [Counter(filter(is_fence, lines)) for lines in (base, older, newer)]
    if applies("guard: code fences", len({tuple(sorted(f.items())) for f in fences}) == 3):
        return False
    added = [[l for l in side if l not in base and l in merged and l not in other]
             for side, other in ((older, newer), (newer, older))]
    return not applies("guard: names", names(added[0], before) & names(added[1], before)) \
        and not applies("guard: similar lines", has_similar(*added))


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


class Budget:
    """What fine-grained merges of a tip, and its texts of more than two contents, may cost."""

    def __init__(self, bounds):
        self.fine, self.crowd = bounds["fineWork"], 4 * bounds["textBytes"]
        self.newlines = bounds["newlinesInAll"]

    def allows(self, older, newer):
        sizes = [sum(len(line) + 1 for line in side) for side in (older, newer)]
        cost = min(sizes[0] * sizes[1], 1 << 27)
        if cost > self.fine:
            return False
        self.fine -= cost
        return True


def merge_texts(positives, negatives, fine=True, budget=None):
    """(text, marker size or None, names of rules) for terms (text, marker size, label) or None."""
    fine = fine and (budget or Budget({"fineWork": 1 << 30, "textBytes": 0, "newlinesInAll": 0}))
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
    output, rules = summed(above, below, [t[2] for t in positives], (), (), fine)
    return render(output, None if mixed else style, final, rules)


def summed(above, below, labels, before, after, fine):
    """The sum of texts, as lines and blocks, and the names of rules."""
    reference = below[0] if below else above[0]
    edits = [hunks(reference, t) for t in above + below]
    found, rules = summed_at(above, below, edits, labels, before, after, fine)
    if fine and len(above) == 2 and len(below) == 1 \
            and not any(isinstance(line, Block) for text in above + below for line in text):
        is_open = any(isinstance(line, Block) for line in found)
        carried = carry_moves(reference, above, labels, edits, before, after, fine, is_open)
        if carried and applies("moves", True):
            edits = [hunks(reference, t) for t in carried + below]
            found, rules = summed_at(carried, below, edits, labels, before, after, fine)
            rules.add("lines")
    return found, rules


def summed_at(above, below, edits, labels, before, after, fine):
    """The sum of texts with these edits from the first base, or from the first text."""
    reference = below[0] if below else above[0]
    output, rules = [], set()
    parts, position = [], 0
    for start, end in spans_of(edits, () if below else reference):
        parts.append((reference[position:start], (), None))
        position = end
        values = values_of(above + below, edits, start, end)
        arguments = (values[:len(above)], values[len(above):], labels,
                     (before + reference[:start])[-100:], (reference[end:] + after)[:100])
        parts.append((*region(*arguments, fine), arguments))
    parts.append((reference[position:], (), None))
    # Lines that nobody added, and that stand there more often than in any side, were moved by two.
    known, most = {line for lines, used, _ in parts if used for line in lines if has_letters(line)}, Counter()
    count = Counter(line for lines, _, _ in parts for line in lines if line in known)
    for text in above:
        most |= Counter(line for line in text if line in known)
    moved = {line for line in known if 0 < most[line] < count[line] and most[line] <= reference.count(line)}
    for lines, used, arguments in parts:
        if used and applies("guard: moved by both", moved.intersection(lines)):
            lines, used = region(*arguments, False)
        output += lines
        rules.update(used)
    return output, rules


# Moved lines.


def carry_moves(base, sides, labels, edits, before, after, fine, is_open):
    """The sides with lines that both moved once, and where there is a conflict, with what one edited in
    lines that the other moved edited where these went; or None."""
    if not all(map(is_small, (base, *sides))):
        return None
    cost, changes = Cost(), []  # (side, start, end, lines)
    found = [moves(base, sides[i], edits[i], edits[1 - i], cost) for i in (0, 1)]
    for mover, other in ((0, 1), (1, 0)):
        for (start, end), (first, last) in found[mover].items():
            text, own = base[start:end], sides[mover][first:last]
            here = place_of(start, end, base, sides[other], edits[other])
            there = found[other].get((start, end))
            if there and mover == 0:
                # Both moved them: they stand where the newer put them.
                both = own, sides[1][slice(*there)]
                change = [(1, *there, version(text, *both, labels, before, after, fine)),
                          *taken_back(base, sides[0], edits[0], (start, end), (first, last))]
            elif is_open and not there and here and not all(map(is_blank, sides[other][slice(*here)])) \
                    and sides[other][slice(*here)] != text:
                both = (own, sides[other][slice(*here)])[::1 if mover == 0 else -1]
                change = [(mover, first, last, version(text, *both, labels, before, after, fine)), (other, *here, text)]
            else:
                continue
            if not any(side == s and a < d and c < b for side, a, b, _ in change for s, c, d, _ in changes):
                changes += change
    sides = list(sides)
    for side, start, end, lines in sorted(changes, key=lambda change: change[1], reverse=True):
        sides[side] = sides[side][:start] + lines + sides[side][end:]
    return sides if changes else None


def version(text, older, newer, labels, before, after, fine):
    """What two made of moved lines, or a block."""
    found = older if newer == text else newer if older == text else None
    if found is None:
        merged = fine_grained(text, older, newer, before, after) if fine.allows(older, newer) else None
        found = merged[0] if merged and not any(isinstance(line, Block) for line in merged[0]) else None
    elif not keeps(text, found):
        found = None
    return found if found is not None else tuple(blocks(list(zip(labels, (older, newer)))))


def core(lines, start, end):
    """A stretch without blank lines at its ends."""
    while start < end and is_blank(lines[start]):
        start += 1
    while end > start and is_blank(lines[end - 1]):
        end -= 1
    return start, end


def taken_back(base, side, edits, stretch, place):
    """The changes by which a side has not moved lines, or if others are in their place has no such lines."""
    changes = []
    for a0, a1, b0, b1 in edits:
        if core(base, a0, a1) == stretch and all(map(is_blank, side[b0:b1])) or core(side, b0, b1) == place:
            changes.append((0, b0, b1, base[a0:a1]))
    return changes if len(changes) == 2 else [(0, *place, ())]


def moves(base, side, edits, others, cost):
    """Where lines stand in the base that a side moved, beside edits of the other, and where in the side: as
    they were, or edited."""
    found, count_base, count_side = {}, Counter(base), Counter(side)
    for hunk in edits:
        start, end = core(base, *hunk[:2])
        text, own = base[start:end], side[slice(*core(side, *hunk[2:]))]
        if not any(c <= hunk[1] and hunk[0] <= d for c, d, *_ in others):
            continue
        where = {side[j]: j for h in edits if h != hunk for j in range(h[2], h[3])
                 if count_base[side[j]] == count_side[side[j]] == 1 and has_letters(side[j])}
        if not any(map(has_letters, text)) or runs(base, text) != 1:
            continue
        is_gone = runs(base, own) > 0

        def is_there(i):
            other = side[i:i + len(text)]
            if other == text:
                return True
            if not is_gone:
                return False
            if len(text) == 1:
                cost.add(32)
                return has_letters(other[0]) and similarity(text[0], other[0], cost) is not None
            return any(a == b and has_letters(a) and count_base[a] == count_side[a] == 1
                       for a, b in zip(text, other)) and keeps(text, other)

        try:
            places = [i for h in edits if h != hunk for i in range(h[2], h[3] - len(text) + 1) if is_there(i)]
        except TooCostly:
            break
        if len(places) == 1:
            found[start, end] = places[0], places[0] + len(text)
        elif not places:
            # Some of the lines, as they were, without parting a parent from its children.
            i = start
            while i < end:
                j, first = i, where.get(base[i])
                while first is not None and j < end and where.get(base[j]) == first + j - i:
                    j += 1
                if j > i and not (j < len(base) and indentation(base[j]) > indentation(base[i])):
                    found[i, j] = first, first + j - i
                i = max(i + 1, j)
    return found


def runs(lines, run):
    return sum(lines[i:i + len(run)] == run for i in range(len(lines) - len(run) + 1))


def keeps(text, other):
    """Whether more than half of the words of some lines are kept."""
    cuts = [words(b"".join(line + b"\n" for line in lines)) for lines in (text, other)]
    kept = {i for i, _ in shortest_edit(*cuts) or ()}
    said = [i for i, token in enumerate(cuts[0]) if says_something(token)]
    return 2 * sum(i in kept for i in said) > len(said)


def place_of(start, end, base, side, edits):
    """Where a side has what it made of a stretch of the base; None if it has no such place."""
    before, inside = 0, None
    for a0, a1, b0, b1 in edits:
        if a1 <= start:
            before = b1 - a1
        elif a0 >= end:
            if a0 == a1 == end and indentation(first_line(side[b0:b1])) > indentation(base[start]):
                inside = b1 - a1
            break
        elif a0 < start or a1 > end:
            return None
        else:
            inside = b1 - a1
    return start + before, end + (before if inside is None else inside)


def is_small(lines):
    return len(lines) <= 2000 and sum(len(line) + 1 for line in lines) <= 1 << 20


def indentation(line):
    return len(line) - len(line.lstrip(b" \t"))


def region(positives, negatives, labels, before, after, fine):
    """What stands in place of some values, and the names of rules."""
    left, bases = cancel(positives, negatives)
    if len(left) == 1:
        return list(left[0]), ()
    groups, rules = [(value, labels[positives.index(value)]) for value in left], set()
    is_union = not negatives
    if any(isinstance(line, Block) for value in left + bases for line in value):
        if negatives:
            positives, negatives, labels, rules = side_by_side(
                *uncancelled(positives, negatives, labels), before, after, fine)
            groups = [(v, labels[positives.index(v)]) for v in cancel(positives, negatives)[0]]
    elif fine and len(bases) > 1 and (
            found := by_steps(positives, negatives, labels, before, after, fine)) and applies("steps", True):
        return found
    elif fine and len(bases) == 1:
        known = {}

        def tried(older, newer):
            if (older, newer) not in known:
                known[older, newer] = fine_grained(
                    bases[0], older, newer, before, after) if fine.allows(older, newer) else None
            return known[older, newer]

        groups = []
        for value in left:
            for i, (group, label) in enumerate(groups):
                found = tried(group, value)
                if found and not any(isinstance(line, Block) for line in found[0]):
                    groups[i] = found[0], label
                    rules |= found[1]
                    break
            else:
                groups.append((value, labels[positives.index(value)]))
        if len(groups) == 2:
            found = tried(groups[0][0], groups[1][0])
            if found:
                return [line for unit in found[0] for line in (
                    blocks([(label, lines) for (_, label), lines in zip(groups, unit)])
                    if isinstance(unit, Block) else [unit])], rules | found[1]
    if len(groups) == 1:
        return list(groups[0][0]), rules
    net = Counter()
    for values, sign in ((positives, 1), (negatives, -1)):
        for value in values:
            for lines in {lines for _, lines in expand(value, b"")}:
                net[lines] += sign
    sides = []
    for value, name in groups:
        expanded = expand(value, name)
        sides += [(label, lines) for label, lines in expanded if len(expanded) == 1 or net[lines] > 0]
    return blocks(sides, is_union), rules


def uncancelled(positives, negatives, labels):
    """The terms that are left when equal ones of opposite sign cancel one against one."""
    left = []
    for values, other in ((positives, Counter(negatives)), (negatives, Counter(positives))):
        kept, places = Counter(), []
        for i, value in enumerate(values):
            kept[value] += 1
            if kept[value] <= values.count(value) - other[value]:
                places.append(i)
        left.append(places)
    return ([positives[i] for i in left[0]], [negatives[i] for i in left[1]], [labels[i] for i in left[0]])


def side_by_side(positives, negatives, labels, before, after, fine):
    """The terms with those that have the same blocks as one, and with it the others' edits in every
    side that they go with; and the names of rules."""
    def key(value):
        return tuple(tuple(label for label, _ in line.sides) for line in value if isinstance(line, Block))

    shared, rules = next(filter(None, map(key, positives + negatives))), set()
    above = [i for i, value in enumerate(positives) if key(value) == shared]
    below = [value for value in negatives if key(value) == shared]
    if len(above) == len(below) + 1:
        value, rules = merged_blocks(
            [positives[i] for i in above], below, [labels[i] for i in above], before, after, fine)
        positives = [value if i == above[0] else v for i, v in enumerate(positives) if i not in above[1:]]
        labels = [label for i, label in enumerate(labels) if i not in above[1:]]
        negatives = [v for v in negatives if key(v) != shared]
    held = [i for i, value in enumerate(positives) if key(value)]
    if not held and negatives and not any(map(key, negatives)):
        found, used = summed(positives, negatives, labels, before, after, fine)
        return [tuple(found)], [], [b""], rules | set(used)
    if len(held) != 1 or not negatives or any(map(key, negatives)):
        return positives, negatives, labels, rules
    sides, is_taken = [], False
    for label, lines in expand(positives[held[0]], b""):
        terms = [lines if i == held[0] else v for i, v in enumerate(positives)]
        found, used = summed(terms, negatives, labels, before, after, fine) if all(
            goes_with(lines, base, positives[:held[0]] + positives[held[0] + 1:]) for base in negatives) else ([Block([])], ())
        if not any(isinstance(line, Block) for line in found):
            is_taken, lines, rules = True, tuple(found), rules | set(used)
        sides.append((label, lines))
    return ([tuple(blocks(sides))], [], [b""], rules) if is_taken else (positives, negatives, labels, rules)


def goes_with(side, base, others):
    """Whether a side of a block has half of the lines of a base, and those that others replaced."""
    has, lacks = Counter(side), Counter()
    for text in others:
        lacks |= Counter(base) - Counter(text)
    return 2 * sum((has & Counter(base)).values()) >= len(base) and not lacks - has


def merged_blocks(positives, negatives, labels, before, after, fine):
    """Values with blocks of the same labels: what is between them, and each side, is summed up by itself."""
    output, rules = [], set()

    def add(above, below):
        found, used = summed(above, below, labels, before, after, fine)
        rules.update(used)
        return found

    cut = [[[]] for _ in positives + negatives]
    for pieces, value in zip(cut, positives + negatives):
        for line in value:
            if isinstance(line, Block):
                pieces += [line, []]
            else:
                pieces[-1].append(line)
    for pieces in zip(*cut):
        if not isinstance(pieces[0], Block):
            pieces = [tuple(piece) for piece in pieces]
            output += add(pieces[:len(positives)], pieces[len(positives):])
            continue
        sides = []
        for i, (label, _) in enumerate(pieces[0].sides):
            texts = [block.sides[i][1] for block in pieces]
            found = add(texts[:len(positives)], texts[len(positives):])
            sides += expand(found, label)
        output += blocks(sides)
    return tuple(output), rules


def blocks(sides, is_union=False):
    """The lines that all sides share, and a block for each stretch in which they differ."""
    start, sides, end = trimmed(sides, is_union)
    if len(sides) < 2:
        return [*start, *(sides[0][1] if sides else ()), *end]
    texts = [lines for _, lines in sides]
    edits, output, position = [hunks(texts[0], lines) for lines in texts], list(start), 0
    for first, last in with_moves(spans_of(edits, texts[0]), texts, edits):
        output += texts[0][position:first]
        position = last
        values = values_of(texts, edits, first, last)
        before, parts, after = trimmed(zip((label for label, _ in sides), values), is_union)
        output += [*before, *([Block(parts)] if len(parts) > 1 else parts[0][1] if parts else ()), *after]
    return [*output, *texts[0][position:], *end]


def with_moves(spans, texts, edits):
    """The stretches; those between which a line moved that no side has twice are one."""
    counts = [Counter(lines) for lines in texts]
    places = {}
    for i, (start, end) in enumerate(spans):
        for line in chain(*values_of(texts, edits, start, end)):
            if has_letters(line) and all(found[line] < 2 for found in counts):
                places.setdefault(line, [i, i])[1] = i
    joined = []
    for first, last in sorted(places.values()):
        if first < last and joined and first <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], last)
        elif first < last:
            joined.append([first, last])
    for first, last in reversed(joined):
        spans = spans[:first] + [[spans[first][0], spans[last][1]]] + spans[last + 1:]
    return spans


def trimmed(sides, is_union):
    """The lines that all sides begin with, what is between, and those that they end with.

    Each text once, under its first label; in a union, a side without lines is none."""
    start, end, texts = (), (), {}
    for label, lines in sides:
        texts.setdefault(tuple(lines), label)
    while True:
        if is_union:
            texts.pop((), None)
        shortest = min(texts, key=len, default=())
        if len(texts) < 2 or not shortest:
            break
        if len({lines[0] for lines in texts}) == 1:
            start, texts = start + shortest[:1], {lines[1:]: label for lines, label in texts.items()}
        elif len({lines[-1] for lines in texts}) == 1:
            end, texts = shortest[-1:] + end, {lines[:-1]: label for lines, label in texts.items()}
        else:
            break
    return start, [(label, lines) for lines, label in texts.items()], end


def spans_of(edits, lines=()):
    """Where edits differ from the reference; given its lines, some between two must have letters."""
    spans = []
    for start, end in sorted({hunk[:2] for found in edits for hunk in found}):
        between = lines[spans[-1][1]:start] if spans else ()
        if spans and (start <= spans[-1][1] or lines and not any(
                isinstance(line, Block) or has_letters(line) for line in between)):
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    return spans


def values_of(terms, edits, start, end):
    """What each term has in place of a span of the reference."""
    def shift(before):
        last = (0, 0, 0, 0)
        for last in before:
            pass
        return last[3] - last[1]

    return [term[start + shift(h for h in edit if h[1] < start):
                 end + shift(h for h in edit if h[0] <= end)]
            for term, edit in zip(terms, edits)]


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
    order = [name for name in ("joined", "lines", "words") if name in rules]
    return result, size if blocks else None, order

"""
Makes server/reminders/holidays.json.gz, the dated table of public holidays. Nothing of Python runs in the program.

Vacanza releases `holidays` every month, under the MIT licence (server/reminders/holidays-licence.txt). For each release of Duely:

    pip install --upgrade --target /tmp/holidays holidays
    PYTHONPATH=/tmp/holidays python3 run/holiday-table.py

then read how the table changed (it prints that) and run server/reminders/holidays.test.ts. Where `npm run check` finds that the table reaches
less than 36 months ahead, raise LAST first.
"""

import gzip
import json
import re
from pathlib import Path

import holidays

FIRST, LAST = 2025, 2032
# The countries whose regions are known; of the others the days of the whole country.
WITH_REGIONS = ["IN", "US", "GB", "DE", "CA", "AU", "CH", "ES", "AT", "NZ"]

table = Path(__file__).parent.parent / "server/reminders/holidays.json.gz"
# The day depends on the moon, or on who looks for it.
ESTIMATED = re.compile(r"\s*\((?:observed, )?estimated\)")


def english(country: str) -> str | None:
    """The language of the names; None where the country has one only, which is English."""
    languages = holidays.country_holidays(country).supported_languages
    found = [one for one in languages if one == "en_US"] or [one for one in languages if one.startswith("en")]
    return found[0] if found else None


def days_of(country: str, region: str | None) -> list[tuple[str, str, bool]]:
    found = holidays.country_holidays(country, subdiv=region, years=range(FIRST, LAST + 1), language=english(country))
    return [
        (day.isoformat(), ESTIMATED.sub("", name), bool(ESTIMATED.search(name)))
        for day, name in sorted(found.items())
        if FIRST <= day.year <= LAST
    ]


def regions_of(country: str) -> dict[str, str]:
    """The name of each region by its code."""
    found = holidays.country_holidays(country)
    names: dict[str, str] = {}
    for name, code in found.subdivisions_aliases.items():
        # Those after the first are short forms, and other languages; a few begin with an older code.
        if len(name) > 3:
            names.setdefault(code, name)
    return {code: names.get(code, code) for code in found.subdivisions}


places = {
    country: {
        "days": days_of(country, None),
        "regions": {
            code: {"name": name, "days": days_of(country, code)}
            for code, name in (regions_of(country).items() if country in WITH_REGIONS else [])
        },
    }
    for country in sorted(holidays.list_supported_countries(include_aliases=False))
}

every = [place for country in places.values() for place in [country, *country["regions"].values()]]
names = sorted({name for place in every for _day, name, _estimated in place["days"]})
number = {name: nth for nth, name in enumerate(names)}
dates = sorted({day for place in every for day, _name, _estimated in place["days"]})
dated = {day: nth for nth, day in enumerate(dates)}
for place in every:
    # The number of the date since the one before, and the name: twice its number, and one more where the day is estimated.
    before = 0
    packed = []
    for day, name, estimated in place["days"]:
        packed += [dated[day] - before, 2 * number[name] + estimated]
        before = dated[day]
    place["days"] = packed

made = {"version": holidays.__version__, "until": f"{LAST}-12-31", "dates": dates, "names": names, "places": places}
text = json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()
old = json.loads(gzip.decompress(table.read_bytes())) if table.exists() else None
# Without a time: the same release makes the same bytes.
table.write_bytes(gzip.compress(text, 9, mtime=0))
count = sum(len(place["days"]) // 2 for place in every)
print(f"holidays {old['version'] if old else 'none'} -> {holidays.__version__}, until {made['until']}")
print(f"{len(places)} countries, {len(every) - len(places)} regions, {count} days, {len(text)} bytes, {table.stat().st_size} packed")
for country in sorted(set(places) ^ set(old["places"])) if old else []:
    print(f"{country} is {'new' if country in places else 'gone'}")

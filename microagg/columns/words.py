"""What the name of a column says of it, in English, German, Spanish and French."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache


def folded(text: str) -> str:
    """Return ``text`` in small letters without accents: ``"Salud (Región)"`` becomes ``"salud (region)"``."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in apart if not unicodedata.combining(letter)).casefold()


@dataclass(frozen=True)
class Words:
    """Words that tell what a column is: ``whole`` ones, also in the plural, and what longer ones begin with."""

    whole: frozenset[str]
    beginnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, whole: str, beginnings: str = "") -> Words:
        """Return the words in two texts, separated by blanks."""
        return cls(frozenset(whole.split()), tuple(beginnings.split()))

    def in_name(self, name: Hashable) -> str | None:
        """Return the first part of a column's name that is one of these words, None if there is none."""
        for part in parts(name):
            if part in self.whole or part.removesuffix("s") in self.whole or part.startswith(self.beginnings):
                return part
        return None


def parts(name: Hashable) -> list[str]:
    """Return the words of a column's name, folded: ``"hh_weight2"`` and ``"HHWeight"`` have ``hh`` and ``weight``."""
    return list(_parts(str(name)))


# Every rule looks at the name anew, one column after another.
@lru_cache(maxsize=16)
def _parts(name: str) -> tuple[str, ...]:
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter))
    return tuple(part.casefold() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", plain))


#: Numbers that an office or a file gives to somebody.
NUMBERED = Words.of(
    "id ident uid uuid guid ssn nr nummer numero nif dni nir siren siret iban matricule matricula passport ausweis "
    "aktenzeichen",
    "identif",
)

#: Names of persons, and where and how they can be reached.
PERSONAL = Words.of(
    "surname lastname firstname fullname forename vorname nachname familienname nombre apellido nom prenom "
    "mail email phone telephone telefon telefono tel mobile handy fax address adresse anschrift direccion street "
    "strasse calle rue",
)

#: The word "name" alone may be that of a country: it is a person's name alone, or beside one of these.
NAME = Words.of("name")
OF_PERSONS = Words.of(
    "first last full family given middle maiden person patient user customer client employee student member pupil "
    "respondent contact owner"
)

#: Weights of a sample, by names that mean nothing else.
SAMPLE_WEIGHT = Words.of(
    "wgt wt fnlwgt afnlwgt pweight pwgt hweight hwgt fweight aweight iweight weighting",
    "gewichtung ponderac ponderat hochrechnung",
)
#: The same with words that also mean how heavy somebody is, and what then tells the two apart.
WEIGHT = Words.of("weight gewicht poids peso")
OF_SAMPLES = Words.of("hh household survey sample sampling design final person base population calibrated")
OF_BODIES = Words.of("body birth kg lb pound baby newborn current height", "korper geburt corpor naissance")

#: Health, beliefs and opinions.
CONFIDENTIAL = Words.of(
    "hiv aids sida salud sante health party partei partido parti vote voted voting voto wahl faith score drug illness "
    "abortion cancer krebs tumor meinung avis attitude trust religion",
    "diagnos disease sickness religi krank erkrank befund gesundheit enfermed diagnost maladi medicat medicam medikam "
    "symptom disabil disorder behinder discapac handicap therap satisf zufrieden konfession politic politis opinion "
    "einstellung",
)

#: What somebody earns; in brackets it is usually what a file is about.
INCOME = Words.of(
    "income salary wage earning einkommen gehalt lohn ingreso salario revenu salaire",
)

#: Codes of places and the like: digits that do not count anything.
CODE = Words.of("zip zipcode postcode postalcode postal plz cp code icd isco nace fips nuts", "postleit")

#: The strata of a sample.
STRATUM = Words.of("stratum strata strat schicht estrato strate")

"""What declarations cite: each paper once, as a line to read and as an entry of BibTeX.

A declaration cites by key, with a place in the paper after a colon where there is one:
``cites=("auer2002-finite: figure 1",)``. Words that are no key are shown as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from restive.base.latex import tex

Fields = Mapping[str, str]


@dataclass(frozen=True)
class Reference:
    """A paper or a book. authors: "Given Family"; venue: as in a sentence; fields: of BibTeX."""

    key: str
    kind: str  # of BibTeX: article, inproceedings, book, misc
    authors: tuple[str, ...]
    title: str
    year: int
    venue: str
    fields: Fields = field(default_factory=dict)

    def __str__(self) -> str:
        names = ", ".join(_family(author) for author in self.authors)
        return f"{names}: {self.title}, {self.venue}"

    def bibtex(self) -> str:
        """The entry, with names and titles that BibTeX neither takes apart nor makes small."""
        authors = " and ".join(
            f"{_family(a)}, {a[: -len(_family(a))].strip()}" for a in self.authors
        )
        entries = {
            "author": tex(authors),
            "title": f"{{{tex(self.title)}}}",
            "year": str(self.year),
        }
        entries |= {name: tex(value) for name, value in self.fields.items()}
        return bibtex_entry(self.kind, self.key, entries)


def bibtex_entry(kind: str, key: str, fields: Fields) -> str:
    """An entry of BibTeX; fields: already as TeX takes them."""
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _family(author: str) -> str:
    return author.rsplit(" ", 1)[-1]


def _article(
    key: str, authors: str, title: str, year: int, journal: str, volume: str, **more: str
) -> Reference:
    venue = f"{journal} {volume} ({year})"
    if "eprint" in more:
        venue += f", arXiv {more['eprint']}"
    fields = {"journal": journal, "volume": volume, **_archived(more)}
    return Reference(key, "article", tuple(authors.split(", ")), title, year, venue, fields)


def _paper(
    key: str, authors: str, title: str, year: int, venue: str, booktitle: str, **more: str
) -> Reference:
    fields = {"booktitle": booktitle, **more}
    return Reference(
        key, "inproceedings", tuple(authors.split(", ")), title, year, f"{venue} {year}", fields
    )


def _preprint(key: str, authors: str, title: str, year: int, eprint: str) -> Reference:
    fields = _archived({"eprint": eprint})
    return Reference(
        key, "misc", tuple(authors.split(", ")), title, year, f"arXiv {eprint} ({year})", fields
    )


def _archived(fields: Fields) -> dict[str, str]:
    return {**fields, **({"archiveprefix": "arXiv"} if "eprint" in fields else {})}


IEEE_IT = "IEEE Transactions on Information Theory"
NEURIPS = "Advances in Neural Information Processing Systems"

REFERENCES: dict[str, Reference] = {
    reference.key: reference
    for reference in (
        _paper("ortner2012", "Ronald Ortner, Daniil Ryabko, Peter Auer, Rémi Munos",
               "Regret bounds for restless Markov bandits", 2012, "ALT",
               "Algorithmic Learning Theory (ALT 2012)", pages="214--228",
               series="Lecture Notes in Computer Science", volume="7568", publisher="Springer"),
        _paper("tekin2011-adaptive", "Cem Tekin, Mingyan Liu",
               "Adaptive learning of uncontrolled restless bandits with logarithmic regret", 2011,
               "Allerton", "49th Annual Allerton Conference on Communication, Control, and "
               "Computing", pages="983--990"),
        _preprint("tekin2011-strong", "Cem Tekin, Mingyan Liu",
                  "Learning of uncontrolled restless bandits with logarithmic strong regret", 2011,
                  "1107.4042"),
        Reference("lattimore2020", "book", ("Tor Lattimore", "Csaba Szepesvári"),
                  "Bandit algorithms", 2020, "Cambridge University Press (2020)",
                  {"publisher": "Cambridge University Press"}),
        _article("whittle1988", "Peter Whittle",
                 "Restless bandits: activity allocation in a changing world", 1988,
                 "Journal of Applied Probability", "25A", pages="287--298"),
        _article("auer2002-nonstochastic",
                 "Peter Auer, Nicolò Cesa-Bianchi, Yoav Freund, Robert E. Schapire",
                 "The nonstochastic multiarmed bandit problem", 2002,
                 "SIAM Journal on Computing", "32", number="1", pages="48--77"),
        _article("auer2002-finite", "Peter Auer, Nicolò Cesa-Bianchi, Paul Fischer",
                 "Finite-time analysis of the multiarmed bandit problem", 2002,
                 "Machine Learning", "47", number="2--3", pages="235--256"),
        _paper("garivier2011-klucb", "Aurélien Garivier, Olivier Cappé",
               "The KL-UCB algorithm for bounded stochastic bandits and beyond", 2011, "COLT",
               "Conference on Learning Theory (COLT 2011)", pages="359--376"),
        _paper("agrawal2012", "Shipra Agrawal, Navin Goyal",
               "Analysis of Thompson sampling for the multi-armed bandit problem", 2012, "COLT",
               "Conference on Learning Theory (COLT 2012)", pages="39.1--39.26"),
        _paper("jung2019-episodic", "Young Hun Jung, Ambuj Tewari",
               "Regret bounds for Thompson sampling in episodic restless bandit problems", 2019,
               "NeurIPS", NEURIPS, volume="32"),
        _preprint("jung2019-nonepisodic", "Young Hun Jung, Marc Abeille, Ambuj Tewari",
                  "Thompson sampling in non-episodic restless bandits", 2019, "1910.05654"),
        _paper("ouyang2017", "Yi Ouyang, Mukul Gagrani, Ashutosh Nayyar, Rahul Jain",
               "Learning unknown Markov decision processes: a Thompson sampling approach", 2017,
               "NIPS", NEURIPS, volume="30"),
        _paper("tekin2011-access", "Cem Tekin, Mingyan Liu",
               "Online learning in opportunistic spectrum access: a restless bandit approach", 2011,
               "INFOCOM", "IEEE INFOCOM 2011", pages="2462--2470"),
        _article("tekin2012", "Cem Tekin, Mingyan Liu",
                 "Online learning of rested and restless bandits", 2012, IEEE_IT, "58", number="8",
                 pages="5588--5611"),
        _paper("wang2020", "Siwei Wang, Longbo Huang, John C. S. Lui",
               "Restless-UCB, an efficient and low-complexity algorithm for online restless "
               "bandits", 2020, "NeurIPS", NEURIPS, volume="33"),
        _article("liu2013", "Haoyang Liu, Keqin Liu, Qing Zhao",
                 "Learning in a changing world: restless multiarmed bandit with unknown dynamics",
                 2013, IEEE_IT, "59", number="3", pages="1902--1916", eprint="1011.4969"),
        _paper("liu2011", "Haoyang Liu, Keqin Liu, Qing Zhao",
               "Logarithmic weak regret of non-Bayesian restless multi-armed bandit", 2011,
               "ICASSP", "IEEE International Conference on Acoustics, Speech and Signal Processing "
               "(ICASSP 2011)", pages="1968--1971"),
        _article("gafni2021", "Tomer Gafni, Kobi Cohen",
                 "Learning in restless multiarmed bandits via adaptive arm sequencing rules", 2021,
                 "IEEE Transactions on Automatic Control", "66", number="10", pages="5029--5036",
                 eprint="1906.08120"),
        _paper("garivier2011-switching", "Aurélien Garivier, Eric Moulines",
               "On upper-confidence bound policies for switching bandit problems", 2011, "ALT",
               "Algorithmic Learning Theory (ALT 2011)", pages="174--188",
               series="Lecture Notes in Computer Science", volume="6925", publisher="Springer"),
        _article("filippi2011", "Sarah Filippi, Olivier Cappé, Aurélien Garivier",
                 "Optimally sensing a single channel without prior information: the tiling "
                 "algorithm and regret bounds", 2011,
                 "IEEE Journal of Selected Topics in Signal Processing", "5", number="1",
                 pages="68--76"),
        _preprint("filippi2009", "Sarah Filippi, Olivier Cappé, Aurélien Garivier",
                  "Regret bounds for opportunistic channel access", 2009, "0908.0319"),
        _article("jaksch2010", "Thomas Jaksch, Ronald Ortner, Peter Auer",
                 "Near-optimal regret bounds for reinforcement learning", 2010,
                 "Journal of Machine Learning Research", "11", pages="1563--1600"),
        _preprint("akbarzadeh2022", "Nima Akbarzadeh, Aditya Mahajan",
                  "On learning Whittle index policy for restless bandits with scalable regret",
                  2022, "2202.03463"),
        _article("ahmad2009",
                 "Sahand Haji Ali Ahmad, Mingyan Liu, Tara Javidi, Qing Zhao, Bhaskar "
                 "Krishnamachari", "Optimality of myopic sensing in multichannel opportunistic "
                 "access", 2009, IEEE_IT, "55", number="9", pages="4040--4050"),
    )
}  # fmt: skip


def cited(cite: str) -> Reference | None:
    """The reference that a declaration's word stands for; None for words that are no key."""
    return REFERENCES.get(cite.partition(":")[0].strip())


def citation(cite: str) -> str:
    """A declaration's word as a line to read.

    >>> citation("auer2002-finite: figure 1").split(": ", 1)[1]
    'Finite-time analysis of the multiarmed bandit problem, Machine Learning 47 (2002), figure 1'
    """
    reference, place = cited(cite), cite.partition(":")[2].strip()
    if reference is None:
        return cite
    return f"{reference}, {place}" if place else str(reference)

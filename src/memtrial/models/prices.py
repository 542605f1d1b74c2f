"""What a reply cost, from public price lists, when nobody says it better."""

from __future__ import annotations

import warnings
from typing import Any, TypedDict

from memtrial.models.providers import PROVIDERS


class Tokens(TypedDict):
    """What a reply took; ``input_tokens`` include ``cached_tokens``."""

    input_tokens: int
    cached_tokens: int
    output_tokens: int


def list_price(
    provider: str, model: str, *, address: str | None, input_tokens: int, cached_tokens: int, output_tokens: int
) -> float | None:
    """Cost in US dollars by the price list of the optional library ``genai-prices``.

    ``None`` when the library is not installed, when it does not know the model, or when ``address`` is not the
    provider's own: a proxy's prices are not known. ``input_tokens`` include ``cached_tokens``.
    """
    preset = PROVIDERS.get(provider)
    if preset is None or not preset.needs_key or (address is not None and address != preset.base_url):
        return None
    try:
        import genai_prices
    except ImportError:
        return None
    prices: Any = genai_prices
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its price list may warn about data, which is no concern of the caller
        try:
            usage = prices.Usage(
                input_tokens=input_tokens, cache_read_tokens=cached_tokens, output_tokens=output_tokens
            )
            return float(prices.calc_price(usage, model, provider_id=provider).total_price)
        except (LookupError, ValueError):
            return None

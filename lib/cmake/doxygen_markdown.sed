# Doxygen 1.9 knows no links to a place within another page: it wants the place's name alone.
s|\]\([^) ]*\.md#([A-Za-z0-9_-]+)\)|](@ref \1)|g
# Nor bold code.
s|\*\*(`[^*]*`)\*\*| <b>\1</b>|g

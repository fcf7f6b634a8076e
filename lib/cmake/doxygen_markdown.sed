# Doxygen 1.9 knows no links to a place within another page: it wants the place's name alone, and no code as its text.
s|\[`([^]`]*)`\]\(([^) ]*\.md#)|[\1](\2|g
s|\]\([^) ]*\.md#([A-Za-z0-9_-]+)\)|](@ref \1)|g
# Nor bold text that begins with code.
s#(^|[^*])\*\*(`[^*]*[^* ])\*\*#\1 <b>\2</b>#g
# Nor code in headings.
/^#/s|`||g
# Nor folds that contain code: their contents are shown below their title.
s|^(<details>)?<summary>(.*)</summary>$|<b>\2</b>|
/^<\/?details>$/d
# What follows is for text; blocks of code stay as they are.
/^ *```/,/^ *```/b
# A percent sign is taken for its mark of words that are not links.
s|([0-9]) %|\1 \\%|g
# Words without spaces around them, as in Chinese, are neither bold nor emphasized.
/[。，、：；（）的是]/s/(^|[^*])\*\*([^* ]|[^* ][^*]*[^* ])\*\*/\1<b>\2<\/b>/g
/[。，、：；（）的是]/s/(^|[^*\\A-Za-z0-9])\*([^* \\`]|[^* \\`][^*`]*[^* \\`])\*/\1<em>\2<\/em>/g

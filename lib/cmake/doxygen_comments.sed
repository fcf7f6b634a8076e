# Our comments are plain ones; this marks them for Doxygen: the one that opens a file, those before a declaration,
# and those after it on its line.
1s|^// |/// \\file\n/// |
s|^( *)// |\1/// |
s|([^ ].*[;,{] *)// |\1///< |
s|^( *[^ }].*} *)// |\1///< |
# Shorter forms of calls stand together under one comment.
s|^inline Work |/// \\overload\n&|

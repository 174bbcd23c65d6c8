package picture

// What the tests of pictures as data look at.
var (
	TextCardFigure = textCard
	WriteSVGFigure = writeSVG
)

package cli

import (
	"flag"
	"slices"
	"strings"

	"dither/account"
)

// flagHelp says what each flag is for: its value, if it takes one, and a line. A flag that means something else with one
// command has that command's name before it.
var flagHelp = map[string]struct{ value, about string }{
	"C": {"HOME", "the curator's home (default $DITHER_HOME, else the working directory)"},

	"from":      {"FILE", "draft the policy from a CSV (or .csv.gz), Parquet or .duckdb file: names and types"},
	"unit":      {"COLUMN", "the column of FILE that identifies a person (default: each row is a unit)"},
	"delimiter": {"C", "between the fields of a CSV file: ';', '|', tab, … (default ',')"},
	"null":      {"TEXT", "an unquoted field of a CSV file that reads so is NULL, as NA (default: an empty one)"},

	"dry-run": {"", "with accept: say what would change, and change nothing"},
	"abandon": {"", "with accept, and of seal: give up unfinished trainings that would be lost; their prices stay spent"},
	"copy":    {"SCHEMA", "of tables on a PostgreSQL server: make a copy in that schema, which questions then read"},
	"remove":  {"N", "remove the file of an old version of TABLE, or of all old ones: old; its number and digest stay"},
	"shared":  {"", "seal although another home has sealed the same source: what both answer then adds up"},

	"epsilon":    {"E", "the price of the question (default: the policy's)"},
	"rho":        {"R", "the same in ρ, where the budget is one of zCDP (ε costs ρ = ε²/2)"},
	"max-groups": {"N", "in how many groups of an answer one unit counts (default: the policy's)"},
	"max-rows":   {"N", "how many rows of one unit count; auto: found first, for a tenth of the price (default: the policy's)"},
	"delta":      {"D", "what selecting groups that are not known beforehand may cost in δ (default: the policy's)"},
	"min-units":  {"K", "release such a group of K units or fewer with a probability of at most δ (default: the policy's)"},
	"other":      {"", "add a row of all that is in no group that is released"},
	"group":      {"K", "what it means for K units together"},
	"within":     {"E", "in place of a price, how exact each value should be: 5% of it, or a number in its unit"},
	"at":         {"P", "the confidence at which it should be, as 95%"},
	"confidence": {"P", "of the intervals (default 0.95)"},
	"fresh":      {"", "pay again, for new noise, though the question was answered before"},
	"whole":      {"", "counts as non-negative whole numbers that add up; intervals stay about the estimates"},
	"combine":    {"", "answer from all earlier releases that tell this, weighted together, at no cost"},
	"f":          {"FILE", "read the question from FILE"},
	"format":     {"FORMAT", "table, json, csv or markdown (default table)"},
	"plot":       {"FILE", "draw the answer as FILE.svg or FILE.png"},
	"chart":      {"", "draw it in the terminal"},

	"estimate.table":      {"TABLE", "the table, or a relation as FROM takes it"},
	"estimate.column":     {"LIST", "the columns, or expressions, as age,cost"},
	"estimate.by":         {"LIST", "an estimate for each group of these keys"},
	"estimate.where":      {"CONDITION", "of the rows that count, as in SQL"},
	"estimate.method":     {"NAME", "bounded, automatic or coinpress; of quantiles independent, recursive, joint or smooth (default: whichever should be closest)"},
	"estimate.deviation":  {"LIST", "about how far each column's values lie from their mean, known without looking at rows; for coinpress"},
	"estimate.rounds":     {"N", "of coinpress (default 2 for means, 3 for covariances)"},
	"estimate.population": {"", "intervals about what the rows are a sample of: sampling and noise"},
	"estimate.at":         {"LIST", "of quantile: the ranks, as 0.25,0.5,0.75 (default 0.5)"},
	"estimate.explain":    {"", "say what would be asked, at which price, and spend nothing"},
	"estimate.plot":       {"FILE", "draw the estimates as FILE.svg or FILE.png"},
	"cluster.table":       {"TABLE", "whose rows are clustered"},
	"cluster.column":      {"LIST", "the numbers they are clustered by, as age,hours; each is scaled by its declared bounds"},
	"cluster.where":       {"CONDITION", "of the rows that count, as SQL"},
	"cluster.k":           {"K", "how many clusters, from 1 to 64; as 2..8 (or auto, which is that) the number is chosen from what is released by grid, at no further price"},
	"cluster.most":        {"N", "look at rows as for N clusters: any -k up to N is then free, as after -k 2..N"},
	"cluster.method":      {"NAME", "lloyd, grid or tree (default: grid for few columns and many rows, else tree)"},
	"cluster.iterations":  {"T", "of lloyd (default 6)"},
	"cluster.average":     {"M", "lloyd's centres are of the last M iterations together (default: half of them)"},
	"cluster.radius":      {"R", "draw rows in to this norm of the scaled columns, L1 under epsilon and L2 under rho, for less noise"},
	"cluster.seed":        {"S", "of what is random but protects nothing, as where to begin (default 1)"},
	"cluster.explain":     {"", "what it would cost, and how noisy it would be, free"},
	"cluster.epsilon":     {"E", "the price of all of it (default: the policy's)"},
	"cluster.fresh":       {"", "pay again, for new noise, though the clusters were found before"},
	"cluster.format":      {"FORMAT", "table, json or markdown (default table)"},
	"cluster.plot":        {"FILE", "draw the clusters as FILE.svg or FILE.png"},

	"analyst":     {"NAME", "who asks: recorded, and held to the policy's limit for them"},
	"ledger.rows": {"N", "with merge: of one person at most so many rows are in a table whose unit is a row"},
	"into":        {"HOME", "with merge: charge what the others have spent to this home too"},
	"against":     {"HEAD", "with verify and recover: a head that `dither ledger head` printed must still be in the ledger"},
	"spent":       {"SUM", "with recover: what was spent, as an ε, or as ρ or ρ,δ under a budget in ρ"},

	"fit.epsilon":    {"E", "the price of the fit (default: the policy's)"},
	"fit.table":      {"T", "the table whose rows it is fitted to"},
	"formula":        {"FORMULA", "the model, as 'y ~ x1 + x2 + g + x1:x2'; a*b is a + b + a:b, - 1 leaves the intercept out, factor(x) takes numbers as categories"},
	"where":          {"CONDITION", "of the rows that hold it alone, in SQL"},
	"fit.method":     {"NAME", "linear: adassp, lecture for the normal equations as they are, or theil-sen for one predictor and few rows (default adassp); logistic and poisson: minimize, or gradient for steps by noisy gradients, without intervals (default minimize)"},
	"no-intervals":   {"", "theil-sen: spend all of the price on the estimates"},
	"find-bounds":    {"SHARE", "linear: a part of the price, as 0.2, that finds narrower bounds of the numbers than are declared"},
	"normalise":      {"SHARE", "linear, logistic and poisson: a part of the price, as 0.2, that finds the numbers' means and spreads; they are then scaled by these, and held within three spreads"},
	"choose":         {"K", "linear and logistic: choose K terms of the formula, or auto for as many as are worth it; intervals allow for the choice"},
	"choose-share":   {"SHARE", "logistic: the part of the price that terms are chosen with (default 0.2)"},
	"fit.from":       {"ID", "linear: compute from an earlier regression's release, as r5, free; the formula is of its terms, and may be left out"},
	"fit.rows":       {"N", "about how many rows there are, where it is known or was released (default: as the policy declares, or a noisy count for a twentieth of the price); of linear only theil-sen asks"},
	"fit.bound":      {"R", "hold a row's predictors, scaled to between -1 and 1, to this norm (default: what the declared bounds give)"},
	"radius":         {"R", "hold the scaled predictors' coefficients to this norm (default 10, or what the response's bound allows)"},
	"regularise":     {"L", "the regulariser: less noise, and more of a bias to be taken out (default: by the expected error)"},
	"curvature":      {"SHARE", "of the price, for the sums that take the bias out and make intervals; 0 for neither (default: by the expected error)"},
	"try":            {"LIST", "logistic: the best of these regularisers, as 20,50,200, by the rows it predicts rightly; a random number of trials is made, at three times the price of one in all"},
	"trials":         {"N", "with --try: how many there are on average (default ten for each)"},
	"or":             {"FORMULA", "logistic: another model, of which the one is told that predicts most rows rightly; as many as there are, each at its price"},
	"score-epsilon":  {"E", "with --or: the price of the noisy counts of rightly predicted rows (default: the policy's)"},
	"fit.delta":      {"D", "of noisy gradients: the δ at which all steps cost their ε (default: the policy's)"},
	"clip":           {"C", "of noisy gradients: the norm that one unit's is held to (default 1)"},
	"rate":           {"Q", "how likely a step takes each unit, as 256/60000 (default: about 256 units a step)"},
	"multiplier":     {"Z", "the noise of a step, in clips, in place of --epsilon (default: the least at that price)"},
	"steps":          {"N", "how many steps there are (default 500)"},
	"optimiser":      {"NAME", "adam or sgd (default adam)"},
	"learning":       {"X", "how far a step goes (default 0.05 of adam, 1 of sgd)"},
	"hidden":         {"N", "units of the network's hidden layer (default 16)"},
	"activation":     {"NAME", "of them: tanh or relu (default tanh)"},
	"softmax":        {"", "no hidden layer: one linear function for each class"},
	"fit.confidence": {"P", "of the intervals (default 0.95)"},
	"fit.explain":    {"", "say what it would cost and how noisy it would be, free"},
	"fit.format":     {"FORMAT", "table, json, markdown, or csv of the coefficients (default table)"},
	"fit.plot":       {"FILE", "draw the coefficients with their intervals as FILE.svg or FILE.png"},

	"levels":              {"A,B,C", "logistic and network: the values of the response in the order of its classes; of two the second's probability is modelled (default: as the policy declares)"},
	"positive":            {"VALUE", "likewise: the value whose probability is modelled, against all others"},
	"calibration":         {"", "logistic: also count rows by predicted probability and response, at a price of its own"},
	"calibration-epsilon": {"E", "the price of the calibration (default: the policy's)"},
	"calibration-where":   {"CONDITION", "count rows of this condition, that the model was not fitted to (default: the fit's own)"},
	"calibration-plot":    {"FILE", "draw observed rates against predicted probabilities as FILE.svg or FILE.png"},
	"bins":                {"N", "how many bins of probability (default 10)"},

	"account.delta":     {"D", "tell the ε at this δ"},
	"account.epsilon":   {"E", "tell the δ at this ε"},
	"account.curve":     {"", "draw δ against ε in the terminal; --curve=FILE as --plot FILE too"},
	"account.plot":      {"FILE", "draw δ against ε, by each accountant, as FILE.svg or FILE.png"},
	"account.format":    {"FORMAT", "table, json or markdown (default table)"},
	"calibrate.epsilon": {"E", "the ε to keep"},
	"calibrate.delta":   {"D", "the δ to keep (default 0, which Laplace noise alone can)"},
	"calibrate.format":  {"FORMAT", "table, json or markdown (default table)"},
	"interpret.epsilon": {"E", "the ε that is promised; of the example's study, from 0.1 to 5 (default 0.5)"},
	"interpret.delta":   {"D", "the δ that is promised; of a job, the one at which its ε is told (default 0)"},
	"interpret.group":   {"K", "how many people share a secret, as a family (default 4)"},
	"interpret.n":       {"N", "how many people the data are of (default 10000)"},
	"interpret.plot":    {"FILE", "with --example: draw the beliefs as FILE.svg or FILE.png"},
	"neighbours":        {"N", "add-remove or change-one: what the promise holds between (default add-remove, or what a job needs)"},
	"interpret.format":  {"FORMAT", "table, json or markdown (default table)"},
	"interpret.prior":   {"P", "what an attacker believes beforehand (default 0.01)"},
	"alpha":             {"A", "the level of an attacker's test: its rate of false alarms (default 0.05)"},
	"interpret.example": {"NAME", "a worked example: smoking"},
	"sensitivity":       {"S", "how far one person moves the answer: in L1 norm for Laplace noise, in L2 for Gaussian (default 1)"},
	"count":             {"N", "how many such answers keep the promise together (default 1)"},
	"sampling":          {"Q", "each on a Poisson sample of this rate, as 0.01 or 256/60000"},

	"people":         {"N", "how many made-up people (default 64; membership 100; name-and-shame 10000)"},
	"questions":      {"N", "how many counts are published (default 320)"},
	"attributes":     {"N", "how many means are published (default 1000)"},
	"noise":          {"LIST", "the bounds of the noise of curators that promise nothing, as 2,4,8"},
	"attack.runs":    {"N", "how often it is simulated"},
	"fit":            {"NORM", "which residuals are least: their sum, or the max, for noise that is known to be bounded (default sum)"},
	"table":          {"FILE", "attack this published table, CSV, instead of made-up people; difference takes several"},
	"truth":          {"FILE", "with --table: each person's true bit, to tell how many are right"},
	"about":          {"WHAT", "difference: what is known of the person, as age=34,zip=48213; membership: a FILE of one person's attributes"},
	"sensitive":      {"COLUMN", "the column that is sought"},
	"k":              {"LIST", "simulate two k-anonymous tables, as 2,5,10; with --table: the k that each should keep"},
	"attack.example": {"", "two small tables of made-up hospitals"},
	"reference":      {"FILE", "attributes of other people of the same population"},
	"attack.epsilon": {"E", "what ours divides over all its answers (default 1)"},
	"attack.delta":   {"LIST", "the δ of name-and-shame (default 1e-4,1e-6)"},
	"attack.seed":    {"S", "of people, questions, and noise that promises nothing (default 1); the noise of ours is real"},
	"attack.plot":    {"FILE", "draw it as FILE.svg or FILE.png"},
	"attack.format":  {"FORMAT", "table, json or markdown (default table)"},

	"adjacent":          {"FILE", "the pairs of inputs to hide between, as CSV of their names (default: every two)"},
	"channel.prior":     {"LIST", "how probable each input is, as 0.9,0.1 (default: all alike)"},
	"normalize":         {"", "divide each row by its sum"},
	"channel.example":   {"NAME", "a mechanism that tells a person's height: truth, constant, threshold or blurred"},
	"write":             {"FILE", "with --example: write its matrix to FILE, or - for standard output, and do nothing else"},
	"channel.epsilon":   {"E", "tell the δ at this ε, as 0.5 or \"ln 3\"; several with commas"},
	"channel.delimiter": {"C", "between the fields of the matrix's file: ';', '|', tab, … (default ',')"},
	"channel.delta":     {"D", "tell the least ε at this δ"},
	"channel.curve":     {"", "draw δ against ε in the terminal"},
	"channel.plot":      {"FILE", "draw δ against ε as FILE.svg or FILE.png"},
	"channel.format":    {"FORMAT", "table or json (default table)"},

	"counts":           {"LIST", "noisy counts, as 120,90,80,110; of a table '10,20;30,40'; of means one for each sample"},
	"sigma":            {"S", "their noise is Gaussian, of this standard deviation (0: there is none)"},
	"laplace-scale":    {"B", "their noise is Laplace, of this scale"},
	"test.n":           {"N", "how many people there are, where that is public (default: what noisy counts tell)"},
	"sizes":            {"LIST", "of how many people each sample is, where that is public"},
	"test.null":        {"LIST", "the hypothesis: uniform, or probabilities, as 0.5,1/6,1/6,1/6, in the order in which categories are shown; of binomial one (default 0.5); of means a number (default 0)"},
	"test.method":      {"NAME", "projected (default), unprojected, corrected, or naive, which is wrong"},
	"simulate":         {"", "find the null distribution by simulation even where χ² would do"},
	"simulations":      {"N", "how often it is simulated (default 9999)"},
	"test.seed":        {"S", "of simulations; of binomial a text: it stands for the uniform number that makes discrete Laplace noise Tulap"},
	"test.alternative": {"NAME", "two-sided (default), greater or less"},
	"test.confidence":  {"P", "of the interval (default 0.95)"},
	"released":         {"Z", "binomial: the noisy count"},
	"value":            {"V", "binomial, with --table: count the rows in which the column is this"},
	"test.table":       {"TABLE", "test a table of the home"},
	"test.column":      {"COLUMN", "its column"},
	"test.by":          {"COLUMN", "the column of the other attribute, or of the samples"},
	"test.where":       {"SQL", "which rows, as in a question"},
	"test.epsilon":     {"E", "the price, with --table; binomial without: the ε of Tulap noise; power: the price of the counts"},
	"test.rho":         {"R", "the price in ρ"},
	"test.delta":       {"D", "binomial: the δ of truncated Tulap noise (default 0)"},
	"test.explain":     {"", "with --table: say what it would cost, free, and ask nothing"},
	"sums":             {"LIST", "means: the noisy sum of each sample"},
	"squares":          {"LIST", "the noisy sum of squares of each (default: they vary as much as the bounds allow)"},
	"bounds":           {"LOW,HIGH", "which the numbers were clamped to"},
	"test.centre":      {"C", "means: what was subtracted from each number before it was added up, or squared (default 0)"},
	"paired":           {"COLUMN", "means: the mean of the column less this one, which is 0 by the hypothesis (or --null)"},
	"test.release":     {"ID", "in place of --table: an earlier release of the home, such as r7, free"},
	"count-sigma":      {"S", "the noise of counts of means is Gaussian (default: they are public)"},
	"count-scale":      {"B", "it is Laplace"},
	"sum-sigma":        {"S", "the noise of sums is Gaussian"},
	"sum-scale":        {"B", "it is Laplace"},
	"square-sigma":     {"S", "the noise of sums of squares is Gaussian"},
	"square-scale":     {"B", "it is Laplace"},
	"of":               {"TEST", "power: gof, independence or binomial"},
	"test.truth":       {"LIST", "power: the probabilities at which the test should reject"},
	"test.alpha":       {"A", "power: the level of the test (default 0.05)"},
	"power":            {"P", "how often it should reject (default 0.8)"},
	"test.neighbours":  {"N", "power: add-remove (default), or change-one, where n is public and noise larger"},
	"test.plot":        {"FILE", "gof: a QQ plot of p-values under the hypothesis; tables: the counts; power: its curve; as FILE.svg or FILE.png"},
	"test.format":      {"FORMAT", "table, json or markdown (default table)"},

	"command":          {"PROGRAM", "what is run, with its arguments: {input} stands for the file (default: on standard input), {runs} for how many answers to print, a line each (default: one process an answer)"},
	"input":            {"FILE", "one data set"},
	"neighbour":        {"FILE", "its neighbour: the same but for one person"},
	"audit.runs":       {"N", "how often each side is run (default 20000; with timing, pairs of each class: 200, or what --duration admits)"},
	"timeout":          {"S", "seconds that one process may take (default 60)"},
	"audit.epsilon":    {"E", "the claim, which is refuted or not (default: what NAME declares; of a program none, and ε is bounded at δ = 0)"},
	"audit.delta":      {"D", "the claim's δ (default 0)"},
	"audit.confidence": {"P", "of everything that the audit tells, together (default 0.999999)"},
	"audit.format":     {"FORMAT", "table or json (default table)"},
	"calibrate":        {"", "with timing: measure the factor of answer_delay on this machine, and print the policy's line"},
	"planted":          {"", "with timing: ask a question that no policy should admit, which must not be shown"},
	"duration":         {"SECONDS", "with timing: stop after this time, once there are 20 pairs of each class (default 60, unless --runs is given)"},
	"ratio":            {"N", "with timing: how often an analyst may ask, budget / price.minimum (default 100)"},
	"door":             {"DOOR", "with timing: ask through the library, the command, or both (default both)"},
	"class":            {"LIST", "with timing: these classes of questions alone, as count,worst-like (default all)"},
	"postgres":         {"VARIABLE", "with timing: on the PostgreSQL server whose URL this environment variable holds (default: files)"},
	"audit.rows":       {"LIST", "with timing: how many rows the made-up tables have, as 100,20000,1000000 (default 20000)"},
	"audit.seed":       {"S", "with timing: of the generated questions and of the order of runs (default 1)"},
	"audit.plot":       {"FILE", "draw what was found as FILE.svg or FILE.png"},

	"keep":        {"DIR", "leave the demo's home in DIR, a new folder"},
	"rows":        {"N", "how many people live in the town"},
	"seed":        {"S", "of the made-up people (default 1): the same seed and size make the same bytes"},
	"demo.format": {"FORMAT", "csv or parquet (default csv)"},
	"out":         {"DIR", "the folder, which must not be there yet (default town)"},
}

// help prints what the flags at hand belong to: the program, or one command.
func (s *session) help() {
	for _, c := range commands() {
		if s.flags != nil && s.flags.Name() == c.name {
			s.commandHelp(c)
			return
		}
	}
	s.print("dither: answers about populations, with noise that protects each person\n\n" +
		"usage: dither [-C HOME] COMMAND …\n\n")
	var g grid
	for _, c := range commands() {
		g.add("  "+c.name, c.about)
	}
	s.print("%s\n  dither help COMMAND   its arguments and flags\n  -C HOME               %s\n  --version             the version\n\n",
		g.text("   "), flagHelp["C"].about)
	s.print("exit: 0 answered, 2 usage, 3 refused, unsupported SQL or a claim refuted, 4 budget exhausted, 1 anything else\n")
}

// commandHelp prints a command's arguments, and a line for each flag that it has declared.
func (s *session) commandHelp(c command) {
	s.print("dither %s: %s\n\nusage: dither %s\n\n", c.name, c.about, strings.TrimSpace(c.name+" "+c.args))
	var g grid
	s.flags.VisitAll(func(f *flag.Flag) {
		h, ok := flagHelp[c.name+"."+f.Name]
		if !ok {
			h = flagHelp[f.Name]
		}
		g.add("  "+strings.TrimSpace(dashed(f.Name)+" "+h.value), h.about)
	})
	// -C is every command's: it stands last.
	slices.SortStableFunc(g.rows, func(a, b []string) int { return last(a[0]) - last(b[0]) })
	s.print("%s", g.text("   "))
	switch c.name {
	case "account", "interpret":
		s.print("%s\n  dither %s --delta 1e-6 \"gaussian sigma=10 count=20\" \"discrete-laplace scale=20\"\n", mechanismsHelp(), c.name)
	case "calibrate":
		s.print("%s", calibrateHelp)
	case "attack":
		s.print("%s", attackHelp)
	case "test":
		s.print("%s", testHelp)
	case "audit":
		s.print("%s", auditHelp)
	case "estimate":
		s.print("%s", estimateHelp)
	case "fit":
		if s.flags.Lookup("rows") != nil { // a model's own
			break
		}
		s.print("\nThese flags are every model's: `dither help fit linear`, logistic, poisson or network lists all that the model takes.\n")
	case "channel":
		s.print("%s", channelHelp())
	}
}

// mechanismsHelp lists the mechanisms of a job with their keys.
func mechanismsHelp() string {
	var g grid
	for _, name := range account.Mechanisms() {
		needed, optional := account.Keys(name)
		for _, key := range optional {
			if key == "sensitivity" {
				needed = append(needed, "["+key+"=…]")
			}
		}
		for i, key := range needed {
			if !strings.HasPrefix(key, "[") {
				needed[i] = key + "=…"
			}
		}
		g.add("  "+name, strings.Join(needed, " "))
	}
	return "\nEach MECHANISM is one argument in quotes, a name and its keys:\n\n" + g.text("   ") +
		"\nand each takes [count=N] [sampling=Q [scheme=fixed]]. Numbers are decimals or fractions.\n"
}

const calibrateHelp = `
The mechanisms, whose values are real numbers or, of the discrete ones, integers:

  gaussian            finds sigma; continuous noise, sensitivity in L2 norm
  discrete-gaussian   finds sigma; noise on integers
  laplace             finds scale; continuous noise, sensitivity in L1 norm
  discrete-laplace    finds scale; noise on integers, as dither itself draws

Numbers are decimals or fractions.

  dither calibrate discrete-laplace --epsilon 1 --delta 1e-6 --count 20

Or a job, as dither account takes it, with one "?" for a sigma or scale, of which the least is found, or for an epsilon, rho or mu, of which
the largest is. Then count, sensitivity and sampling stand in the mechanisms:

  dither calibrate --epsilon 1 --delta 1e-6 "discrete-laplace scale=? count=40" "gaussian sigma=15 count=3"
`

const attackHelp = `
The attacks, on made-up people and simulated curators: one who answers exactly, some whose noise is fixed however much they
answer, and one who divides an ε over all the answers (ours). dither help attack ATTACK shows the flags of one.

  reconstruct      a secret bit of each person, from counts of random groups
  difference       one person's secret, from two counts; or, with -k or --table, from two k-anonymous tables
  membership       who is in a group, from the means of many attributes
  name-and-shame   what a δ allows that is not far below 1 over the number of people

And on what somebody has published:

  dither attack reconstruct --table answers.csv --truth truth.csv
  dither attack difference --table east.csv --table west.csv --about age=34,zip=48213 --sensitive disease
  dither attack membership --table means.csv --about person.csv --reference others.csv
`

const testHelp = `
The tests; dither help test TEST shows the flags of one. On numbers that somebody published, without a home:

  dither test gof --counts 120,90,80,110 --sigma 20 --n 400 --null uniform
  dither test independence --counts '110,190;320,410' --laplace-scale 10
  dither test proportions --counts '110,190;320,410' --sigma 5 --sizes 300,730
  dither test means --counts 400,380 --sums 5200,5600 --bounds 0,40 --count-scale 4 --sum-scale 80
  dither test binomial --released 18.3 --n 30 --epsilon 1 --null 0.8 --alternative less
  dither test power --of gof --truth 0.26,0.24,0.24,0.26 --epsilon 0.1 --power 0.8

And on a table of a home, at a price; the same test asked again is free, and so is what an earlier release tells:

  dither test independence --table visits --column ward --by sex --epsilon 0.5
  dither test means --table visits --column before --paired after --epsilon 0.5
  dither test means --release r7
`

const auditHelp = `
The program prints numbers, words, or several to a line; it needs fresh noise for each answer. Exit code 3: the claim is refuted.

  dither audit --command "python3 average.py {runs}" --input people.csv --neighbour without_one.csv --epsilon 1 --runs 100000

Timing: what the clock reveals of one unit, and the instant that hides it. It makes up its rows; --runs is how many pairs of each class of questions.

  dither audit timing --rows 20000 --duration 600
  dither audit timing --calibrate
`

func last(flag string) int {
	if strings.HasPrefix(flag, "  -C ") {
		return 1
	}
	return 0
}

func dashed(name string) string { return completedFlag{name: name}.dashed() }

// runHelp prints the help of a command, which declares its flags and does nothing else when it is asked for help.
func (s *session) runHelp(args []string) error {
	if len(args) == 0 {
		s.help()
		return nil
	}
	return s.run(args[0], append(slices.Clone(args[1:]), "-h"))
}
